//! What is no sharding, and why.

use smallvec::smallvec;
use tofu_sharding::{AxisRef, DimSharding, Mesh, Partial, Reducer, Sharding};

fn mesh() -> Mesh {
    Mesh::new([("x", 2), ("y", 8), ("odd name", 3)]).unwrap()
}

fn dim(axes: &[AxisRef]) -> DimSharding {
    DimSharding { axes: axes.iter().copied().collect(), ..DimSharding::default() }
}

fn part(pre: u64, size: u64) -> AxisRef {
    AxisRef { axis: 1, pre, size }
}

fn error(sharding: &Sharding, shape: &[u64]) -> String {
    let shape: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
    sharding.check(&mesh(), &shape).unwrap_err().to_string()
}

#[test]
fn shardings_are_text() {
    let mesh = mesh();
    let (x, odd) = (mesh.whole(0), mesh.whole(2));
    let sharding = Sharding {
        dims: smallvec![
            DimSharding { axes: smallvec![part(2, 2), x], open: true, padded: false },
            DimSharding { open: true, ..DimSharding::default() },
            DimSharding { axes: smallvec![odd], open: false, padded: true },
        ],
        replicated: smallvec![part(1, 2)],
        partial: Some(Partial { reducer: Reducer::Max, axes: smallvec![part(4, 2)] }),
    };
    let expected =
        "[{y:(2)2, x, ?}, {?}, {\"odd name\"} padded], replicated = {y:(1)2}, partial = max {y:(4)2}";
    assert_eq!(sharding.display(&mesh).to_string(), expected);
    assert_eq!(sharding.check(&mesh, &[Some(8), None, Some(4)]), Ok(()));
    assert_eq!(Sharding::replicated(0).display(&mesh).to_string(), "[]");
}

#[test]
fn what_is_wrong_is_said() {
    let (x, y) = (mesh().whole(0), mesh().whole(1));
    let of = |dims: &[DimSharding]| Sharding { dims: dims.into(), ..Sharding::default() };
    let cases: Vec<(Sharding, &[u64], &str)> = vec![
        (of(&[dim(&[x])]), &[2, 2], "the sharding has one dimension, but the tensor 2"),
        (of(&[dim(&[AxisRef { axis: 7, ..x }])]), &[2], "the mesh has no axis `7:(1)2`"),
        (of(&[dim(&[part(2, 3)])]), &[6], "the mesh has no axis `y:(2)3`"),
        (of(&[dim(&[part(2, 1)])]), &[6], "the mesh has no axis `y:(2)1`"),
        (of(&[dim(&[x]), dim(&[x])]), &[2, 2], "axis `x` is used twice"),
        (
            of(&[dim(&[y]), dim(&[part(2, 2)])]),
            &[8, 2],
            "`y` and `y:(2)2` are used, which have devices in common",
        ),
        (
            of(&[dim(&[part(1, 2), part(2, 2)])]),
            &[4],
            "`y:(1)2` and `y:(2)2` together are `y:(1)4`, which must be written",
        ),
        (
            Sharding { replicated: smallvec![y, x], ..of(&[dim(&[])]) },
            &[4],
            "`x` must stand before `y`, as in the mesh",
        ),
        (Sharding { replicated: smallvec![x], ..of(&[dim(&[x])]) }, &[2], "axis `x` is used twice"),
        (
            Sharding {
                partial: Some(Partial { reducer: Reducer::Sum, axes: smallvec![] }),
                ..of(&[dim(&[])])
            },
            &[4],
            "no axis is given over which values are partial",
        ),
        (
            of(&[dim(&[]), dim(&[y])]),
            &[4, 12],
            "8 devices split dimension 1, whose 12 elements they do not divide evenly",
        ),
        (
            of(&[DimSharding { padded: true, ..dim(&[x]) }]),
            &[4],
            "dimension 0 is not padded: 2 devices divide its 4 elements evenly",
        ),
    ];
    for (sharding, shape, expected) in cases {
        assert_eq!(error(&sharding, shape), expected);
    }
}

/// More devices than elements is nothing special; an empty dimension divides.
#[test]
fn small_and_empty_dimensions() {
    let y = mesh().whole(1);
    let sharding = Sharding::replicated(1).split(0, y);
    assert_eq!(sharding.clone().pad_for(&[3]).check(&mesh(), &[Some(3)]), Ok(()));
    assert_eq!(sharding.pad_for(&[0]).check(&mesh(), &[Some(0)]), Ok(()));
}
