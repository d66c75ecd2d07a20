//! The types that options of [`Partition`](crate::Partition) have.

use tofu_partition::{Algorithm, Objective};
use tofu_pass::{OptionValue, one_of, option_enum};
use tofu_sharding::Mesh;

/// An algorithm, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlgorithmName(pub Algorithm);

impl OptionValue for AlgorithmName {
    fn expected() -> String {
        one_of(&Algorithm::ALL.map(Algorithm::name))
    }

    fn parse(text: &str) -> Option<AlgorithmName> {
        Algorithm::from_name(&String::parse(text)?).map(AlgorithmName)
    }

    fn text(&self) -> String {
        self.0.name().to_owned()
    }
}

/// Axes and how many devices are along each: `data:2,model:4`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeshAxes(pub Mesh);

impl OptionValue for MeshAxes {
    fn expected() -> String {
        "axes and their sizes, such as `data:2,model:4`".to_owned()
    }

    fn parse(text: &str) -> Option<MeshAxes> {
        let text = String::parse(text)?;
        let axis = |axis: &str| {
            let (name, size) = axis.split_once(':')?;
            Some((name.trim().to_owned(), size.trim().parse().ok()?))
        };
        let axes: Vec<(String, u64)> = text.split(',').map(axis).collect::<Option<_>>()?;
        Mesh::new(axes).ok().map(MeshAxes)
    }

    fn text(&self) -> String {
        let axes = self.0.axes().iter().map(|axis| format!("{}:{}", axis.name, axis.size));
        axes.collect::<Vec<_>>().join(",")
    }
}

option_enum! {
    /// What is to be little.
    pub enum ObjectiveName {
        /// The time of a step.
        Time = "time",
        /// The bytes that a device sends in a step.
        Bytes = "bytes",
    }
}

impl ObjectiveName {
    /// What it names.
    pub(crate) fn objective(self) -> Objective {
        match self {
            ObjectiveName::Time => Objective::Time,
            ObjectiveName::Bytes => Objective::Bytes,
        }
    }
}

option_enum! {
    /// Which collectives the back end has.
    pub enum Collectives {
        /// All of them: the program says itself where which one is done.
        Manual = "manual",
        /// Those that XLA finds from annotations: terms are reduced everywhere and then sliced.
        XlaAnnotated = "xla-annotated",
    }
}
