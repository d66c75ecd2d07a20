//! Meshes.

use std::sync::Arc;

use tofu_machine::{Axis, MAX_DEVICES};

use crate::AxisRef;

/// Named axes over devices. Devices are numbered with the last axis fastest. Cheap to clone. By default there are none, and
/// one device.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Mesh {
    axes: Arc<[MeshAxis]>,
}

/// An axis of a mesh.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MeshAxis {
    /// Its name.
    pub name: Box<str>,
    /// How many devices are along it.
    pub size: u64,
}

impl Mesh {
    /// A mesh of these axes; without any it has one device.
    ///
    /// # Errors
    /// When a name is given twice or empty, an axis has no devices, or the mesh too many.
    pub fn new<N: Into<Box<str>>>(axes: impl IntoIterator<Item = (N, u64)>) -> Result<Mesh, String> {
        let axes: Arc<[MeshAxis]> =
            axes.into_iter().map(|(name, size)| MeshAxis { name: name.into(), size }).collect();
        let mut devices: u64 = 1;
        for (index, axis) in axes.iter().enumerate() {
            if axis.name.is_empty() {
                return Err("an axis has no name".to_owned());
            }
            if axes[..index].iter().any(|other| other.name == axis.name) {
                return Err(format!("there are two axes `{}`", axis.name));
            }
            if axis.size == 0 {
                return Err(format!("axis `{}` has no devices", axis.name));
            }
            devices = devices.saturating_mul(axis.size);
        }
        if devices > MAX_DEVICES {
            return Err(format!("the mesh has {devices} devices, more than {MAX_DEVICES}"));
        }
        Ok(Mesh { axes })
    }

    /// Its axes, the slowest first.
    pub fn axes(&self) -> &[MeshAxis] {
        &self.axes
    }

    /// How many devices it has.
    pub fn devices(&self) -> u64 {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// All of the axis of this name.
    pub fn axis(&self, name: &str) -> Option<AxisRef> {
        let axis = self.axes.iter().position(|axis| *axis.name == *name)?;
        Some(self.whole(axis))
    }

    /// All of an axis.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn whole(&self, axis: usize) -> AxisRef {
        AxisRef { axis, pre: 1, size: self.axes[axis].size }
    }

    /// Whether a reference is to a whole axis of this mesh, or to a part that there is.
    pub fn has(&self, axis: AxisRef) -> bool {
        self.axes.get(axis.axis).is_some_and(|of| {
            let is_part = axis.size > 1 && axis.pre > 0 && of.size.is_multiple_of(axis.end());
            is_part || axis == self.whole(axis.axis)
        })
    }

    /// From a device to the next one along an axis.
    pub fn stride(&self, axis: AxisRef) -> u64 {
        let inner: u64 = self.axes[axis.axis + 1..].iter().map(|axis| axis.size).product();
        inner * (self.axes[axis.axis].size / axis.end())
    }

    /// Where a device stands along an axis.
    pub fn coordinate(&self, device: u64, axis: AxisRef) -> u64 {
        device / self.stride(axis) % axis.size
    }

    /// Where a device stands along several axes together, of which the first is the major one.
    pub fn joint_coordinate(&self, device: u64, axes: &[AxisRef]) -> u64 {
        axes.iter().fold(0, |joint, &axis| joint * axis.size + self.coordinate(device, axis))
    }

    /// How many devices are along some axes, said by their numbers.
    pub fn devices_along(&self, axes: &[u8]) -> u64 {
        axes.iter().map(|&axis| self.axes()[usize::from(axis)].size).product()
    }

    /// Axes as a machine sees them: for the times of [collectives](tofu_machine::Machine::collective_time).
    pub fn group(&self, axes: &[AxisRef]) -> Vec<Axis> {
        axes.iter().map(|&axis| Axis { size: axis.size, stride: self.stride(axis) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mesh() -> Mesh {
        Mesh::new([("x", 2), ("y", 12), ("z", 3)]).unwrap()
    }

    #[test]
    fn devices_are_numbered_with_the_last_axis_fastest() {
        let mesh = mesh();
        let axes = ["x", "y", "z"].map(|name| mesh.axis(name).unwrap());
        assert_eq!(mesh.devices(), 72);
        assert_eq!(axes.map(|axis| mesh.stride(axis)), [36, 3, 1]);
        for device in 0..72 {
            assert_eq!(mesh.joint_coordinate(device, &axes), device);
        }
        assert_eq!(mesh.joint_coordinate(37, &[axes[2], axes[0]]), 3, "z is 1, x is 1");
    }

    #[test]
    fn parts_of_an_axis_are_digits() {
        let mesh = mesh();
        let part = |pre, size| AxisRef { axis: 1, pre, size };
        assert!(mesh.has(part(2, 3)) && mesh.has(part(1, 12)) && mesh.has(part(4, 3)));
        assert!(
            !mesh.has(part(8, 3)) && !mesh.has(part(1, 5)) && !mesh.has(part(1, 1)) && !mesh.has(part(0, 2))
        );
        assert!(!mesh.has(AxisRef { axis: 3, pre: 1, size: 2 }));
        // y = 7 is 1, 0, 1 in the radices 2, 3, 2.
        let device = 7 * 3 + 2;
        let digits = [part(1, 2), part(2, 3), part(6, 2)].map(|part| mesh.coordinate(device, part));
        assert_eq!(digits, [1, 0, 1]);
        assert_eq!(mesh.group(&[part(2, 3)]), [Axis { size: 3, stride: 6 }]);
    }

    #[test]
    fn axes_are_checked() {
        let error = |axes: &[(&str, u64)]| Mesh::new(axes.iter().copied()).unwrap_err();
        assert_eq!(error(&[("x", 2), ("x", 2)]), "there are two axes `x`");
        assert_eq!(error(&[("", 2)]), "an axis has no name");
        assert_eq!(error(&[("x", 0)]), "axis `x` has no devices");
        assert_eq!(
            error(&[("x", u64::MAX), ("y", 2)]),
            format!("the mesh has {} devices, more than 1048576", u64::MAX)
        );
        assert_eq!(Mesh::new([("", 0); 0]).unwrap().devices(), 1);
    }
}
