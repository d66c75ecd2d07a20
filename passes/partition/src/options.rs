//! The types that options of [`Partition`](crate::Partition) have.

use tofu_partition::{Algorithm, Objective};
use tofu_pass::{OptionValue, one_of, option_enum};
use tofu_sharding::Mesh;

use crate::target::shown;

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
        MeshAxes::read(text).ok()
    }

    fn refusal(text: &str) -> Option<String> {
        MeshAxes::read(text).err()
    }

    fn text(&self) -> String {
        shown(&self.0)
    }
}

impl MeshAxes {
    /// # Errors
    /// What is wrong with the text.
    fn read(text: &str) -> Result<MeshAxes, String> {
        let text = String::parse(text).ok_or("a quote is missing")?;
        let axis = |axis: &str| {
            let (name, size) = axis.split_once(':').ok_or_else(|| {
                format!("`{}` does not say how many devices are along it: `{}:2`", axis.trim(), axis.trim())
            })?;
            let size = size.trim();
            let size = size.parse().map_err(|_| format!("`{size}` is no number of devices"))?;
            Ok((name.trim().to_owned(), size))
        };
        if text.trim().is_empty() {
            return Err("a mesh has at least one axis".to_owned());
        }
        let axes: Vec<(String, u64)> = text.split(',').map(axis).collect::<Result<_, String>>()?;
        Mesh::new(axes).map(MeshAxes)
    }
}

option_enum! {
    /// What to minimise.
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
