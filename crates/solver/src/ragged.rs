//! Rows of different lengths in one allocation.

/// A list of rows, stored end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ragged<T> {
    ends: Vec<usize>,
    values: Vec<T>,
}

impl<T> Ragged<T> {
    pub(crate) fn new() -> Self {
        Ragged { ends: Vec::new(), values: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.values.extend(row);
        self.ends.push(self.values.len());
    }

    pub(crate) fn row(&self, index: usize) -> &[T] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.values[start..self.ends[index]]
    }
}
