//! What a user asks of a plan: layouts of some tensors.

use smallvec::SmallVec;
use tofu_sharding::{Layout, Layouts};

use crate::graph::TensorId;
use crate::states::Stored;
use crate::way::has_one_reducer;

/// What plans must keep.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Constraints {
    /// The tensors of which something is asked, in ascending order, each with the layouts that it must have on some axes
    /// of the mesh. They hold of the layout in which it is kept, not of copies.
    pinned: Vec<(TensorId, SmallVec<[(usize, Layout); 2]>)>,
}

impl Constraints {
    /// Asks that a tensor has a layout on an axis. What was asked before of the same axis is forgotten.
    pub fn pin(&mut self, tensor: TensorId, axis: usize, layout: Layout) {
        let place = match self.pinned.binary_search_by_key(&tensor, |(other, _)| *other) {
            Ok(place) => place,
            Err(place) => {
                self.pinned.insert(place, (tensor, SmallVec::new()));
                place
            }
        };
        let axes = &mut self.pinned[place].1;
        axes.retain(|(other, _)| *other != axis);
        axes.push((axis, layout));
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty()
    }

    /// The tensors of which something is asked, in ascending order.
    pub fn tensors(&self) -> impl Iterator<Item = TensorId> {
        self.pinned.iter().map(|(tensor, _)| *tensor)
    }

    /// Whether a tensor may be kept like that.
    pub fn allow(&self, tensor: TensorId, stored: Stored) -> bool {
        let place = self.pinned.binary_search_by_key(&tensor, |(other, _)| *other);
        place.map_or(true, |place| {
            self.pinned[place].1.iter().all(|&(axis, layout)| stored.first.on(axis) == layout)
        })
    }

    /// The layouts of a tensor with those on the pinned axes put right; none if they contradict.
    pub fn apply(&self, tensor: TensorId, layouts: Layouts, axes: usize) -> Option<Layouts> {
        let Ok(place) = self.pinned.binary_search_by_key(&tensor, |(other, _)| *other) else {
            return Some(layouts);
        };
        let pinned = self.pinned[place].1.iter();
        let layouts = pinned.fold(layouts, |layouts, &(axis, layout)| layouts.with(axis, layout));
        has_one_reducer(layouts, axes).then_some(layouts)
    }
}
