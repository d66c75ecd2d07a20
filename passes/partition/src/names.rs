//! Values by the names that the program is printed with.

use tofu_ir::ValueId;
use tofu_partition::{Graph, TensorId};
use tofu_syntax::ValueNames;

/// The names of the values of a function.
pub(crate) struct Names<'g> {
    graph: &'g Graph<'g>,
    names: ValueNames,
}

impl<'g> Names<'g> {
    pub(crate) fn of(graph: &'g Graph<'g>) -> Names<'g> {
        Names { graph, names: ValueNames::of(graph.module, graph.function) }
    }

    /// The name of a value, without its sign.
    pub(crate) fn get(&self, value: ValueId) -> String {
        let mut text = String::new();
        self.names.write_value(&mut text, self.graph.module, value);
        text.trim_start_matches('%').to_owned()
    }

    /// The value of a name, with or without its sign.
    pub(crate) fn find(&self, name: &str) -> Option<(ValueId, TensorId)> {
        let name = name.trim_start_matches('%');
        self.values().find(|&(value, _)| self.get(value) == name)
    }

    /// The names of all tensors.
    pub(crate) fn all(&self) -> Vec<String> {
        self.values().map(|(value, _)| self.get(value)).collect()
    }

    fn values(&self) -> impl Iterator<Item = (ValueId, TensorId)> {
        let tensors = self.graph.tensors.iter().zip(0..);
        tensors.flat_map(|(tensor, number)| tensor.values.iter().map(move |&value| (value, number)))
    }
}
