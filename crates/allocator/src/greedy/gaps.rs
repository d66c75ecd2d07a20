//! Free bytes of an arena that grows: a heap as an allocator keeps it.

use std::collections::BTreeSet;

/// Free gaps below the highest end that was ever in use.
#[derive(Default)]
pub(crate) struct Gaps {
    by_size: BTreeSet<(u64, u64)>,
    by_offset: BTreeSet<(u64, u64)>,
    end: u64,
}

impl Gaps {
    /// An arena of which the first bytes are taken for good.
    pub(crate) fn above(base: u64) -> Gaps {
        Gaps { end: base, ..Gaps::default() }
    }

    /// The offset of the tightest gap; the arena grows where there is none.
    pub(crate) fn take(&mut self, bytes: u64) -> u64 {
        if let Some(&(size, offset)) = self.by_size.range((bytes, 0)..).next() {
            self.remove(offset, size);
            self.insert(offset + bytes, size - bytes);
            return offset;
        }
        // A gap at the end grows.
        let last =
            self.by_offset.last().copied().filter(|&(offset, size)| offset.saturating_add(size) == self.end);
        let offset = match last {
            Some((offset, size)) => {
                self.remove(offset, size);
                offset
            }
            None => self.end,
        };
        self.end = offset.saturating_add(bytes);
        offset
    }

    pub(crate) fn free(&mut self, mut offset: u64, mut bytes: u64) {
        if let Some(&(before, size)) = self.by_offset.range(..(offset, 0)).next_back()
            && before.saturating_add(size) == offset
        {
            self.remove(before, size);
            (offset, bytes) = (before, bytes.saturating_add(size));
        }
        if let Some(&(after, size)) = self.by_offset.range((offset.saturating_add(bytes), 0)..).next()
            && after == offset.saturating_add(bytes)
        {
            self.remove(after, size);
            bytes = bytes.saturating_add(size);
        }
        self.insert(offset, bytes);
    }

    fn insert(&mut self, offset: u64, size: u64) {
        if size > 0 {
            self.by_size.insert((size, offset));
            self.by_offset.insert((offset, size));
        }
    }

    fn remove(&mut self, offset: u64, size: u64) {
        self.by_size.remove(&(size, offset));
        self.by_offset.remove(&(offset, size));
    }
}
