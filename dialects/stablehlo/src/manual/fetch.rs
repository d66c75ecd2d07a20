//! Ranges of a dimension, from whoever holds them.
//!
//! What comes from the device `h` places further on is one permutation for all devices, of the most that any of them gets from there. Where
//! windows move as shares do, all get the same rows of it, and what there is only needs to be put side by side:
//!
//! ```text
//! shares       |  w-1  |   w   |  w+1  |
//! window            [··|·······|·]           h = -1, 0, 1
//! ```
//!
//! Else the rows of each device are looked up in a table by its coordinate, and what is no part of them is masked. Beyond
//! the ends of the dimension there is 0.

use tofu_diagnostics::Diagnostic;
use tofu_dialect_tensor::{self as tensor, Direction};
use tofu_ir::{ElementType, ValueId};

use super::collectives::Collectives;
use super::site::Made;

/// What a device gets from another one: rows from `from` on there, to `to` on here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rows {
    from: i64,
    to: i64,
    count: i64,
}

/// The rows that each device gets from the one so many places further on; of none if there is none.
struct Hop {
    further: i64,
    rows: Vec<Option<Rows>>,
}

impl Hop {
    fn largest(&self) -> i64 {
        self.rows.iter().flatten().map(|rows| rows.count).max().unwrap_or(0)
    }

    /// The rows, if all devices that get some get the same.
    fn alike(&self) -> Option<Rows> {
        let mut all = self.rows.iter().flatten();
        let first = *all.next()?;
        all.all(|rows| *rows == first).then_some(first)
    }
}

/// The window of each of `count` devices, of `size` rows, from shares of `own`.
fn hops(count: i64, own: i64, size: i64, (start, step): (i64, i64)) -> Vec<Hop> {
    let rows = |device: i64, further: i64| {
        let other = device + further;
        if !(0..count).contains(&other) {
            return None;
        }
        let low = start + step * device;
        let (begin, end) = (low.max(own * other), (low + size).min(own * (other + 1)));
        (begin < end).then_some(Rows { from: begin - own * other, to: begin - low, count: end - begin })
    };
    (1 - count..count)
        .map(|further| Hop { further, rows: (0..count).map(|device| rows(device, further)).collect() })
        .filter(|hop| hop.largest() > 0)
        .collect()
}

impl Collectives<'_> {
    /// So many elements of a dimension as `to` has, from `start + step · w` on, of all of which there are `extent`.
    pub(super) fn fetch(
        &mut self,
        value: ValueId,
        to: &[u64],
        (dim, axes): (usize, &[u8]),
        (start, step): (i64, i64),
        extent: u64,
    ) -> Made {
        let own = self.site.dims(value)[dim] as i64;
        let count = self.size(axes) as i64;
        let hops = hops(count, own, to[dim] as i64, (start, step));
        let alike: Option<Vec<(Rows, i64)>> =
            hops.iter().map(|hop| Some((hop.alike()?, hop.further))).collect();
        let fetched = match alike.filter(|_| step == own) {
            Some(parts) => self.side_by_side_rows(value, to, dim, axes, parts)?,
            None => self.looked_up(value, to, dim, axes, &hops)?,
        };
        if own * count == extent as i64 {
            return Ok(fetched);
        }
        // The padding of the last shares is no part of the dimension.
        let first = self.first_row(axes, (start, step))?;
        self.rows_between(fetched, dim, first, (0, extent as i64))
    }

    /// The same rows for all devices from each hop.
    fn side_by_side_rows(
        &mut self,
        value: ValueId,
        to: &[u64],
        dim: usize,
        axes: &[u8],
        mut parts: Vec<(Rows, i64)>,
    ) -> Made {
        parts.sort_by_key(|(rows, _)| rows.to);
        let (Some(&(first, _)), Some(&(last, _))) = (parts.first(), parts.last()) else {
            return self.site.splat(to, self.site.element(value), 0.0);
        };
        let mut all = Vec::new();
        for (rows, further) in parts {
            let mut start = vec![0; to.len()];
            let mut size = self.site.dims(value);
            (start[dim], size[dim]) = (rows.from as u64, rows.count as u64);
            let part = self.site.part(value, &start, &size)?;
            all.push(self.from(part, axes, further)?);
        }
        let joined = match all[..] {
            [one] => one,
            _ => tensor::concatenate(&mut self.site.builder(), &all, dim as i64)?,
        };
        let (mut low, mut high) = (vec![0; to.len()], vec![0; to.len()]);
        low[dim] = first.to;
        high[dim] = to[dim] as i64 - (last.to + last.count);
        self.site.pad(joined, &low, &high)
    }

    /// What devices have that are so many places further on; zeros where there are none.
    fn from(&mut self, value: ValueId, axes: &[u8], further: i64) -> Made {
        if further == 0 {
            return Ok(value);
        }
        let mut pairs = Vec::new();
        for group in self.groups(axes) {
            for (place, &target) in group.iter().enumerate() {
                let source = usize::try_from(place as i64 + further).ok().and_then(|place| group.get(place));
                pairs.extend(source.map(|&source| vec![source, target]));
            }
        }
        self.send(value, &pairs)
    }

    fn looked_up(&mut self, value: ValueId, to: &[u64], dim: usize, axes: &[u8], hops: &[Hop]) -> Made {
        let mut result = self.site.splat(to, self.site.element(value), 0.0)?;
        for hop in hops {
            let largest = hop.largest();
            // Of a device that sends: where the rows start that the other one wants.
            let sent = |device: usize| {
                let target = device as i64 - hop.further;
                usize::try_from(target)
                    .ok()
                    .and_then(|target| *hop.rows.get(target)?)
                    .map_or(0, |rows| rows.from)
            };
            let table: Vec<i64> = (0..hop.rows.len()).map(sent).collect();
            let mut starts = vec![None; to.len()];
            starts[dim] = Some(self.entry(axes, &table)?);
            let mut size = self.site.dims(value);
            size[dim] += largest as u64;
            // Behind the last row there must be as many again, or the start would be moved.
            let padded = self.site.padded(value, &size)?;
            size[dim] = largest as u64;
            let part = self.site.window(padded, &starts, &size)?;
            let part = self.from(part, axes, hop.further)?;
            // Into a buffer that has room for the rows that are no part of it.
            let table: Vec<i64> = hop.rows.iter().map(|rows| rows.map_or(0, |rows| rows.to)).collect();
            let place = self.entry(axes, &table)?;
            let mut room = to.to_vec();
            room[dim] += largest as u64;
            let room = self.site.splat(&room, self.site.element(value), 0.0)?;
            let mut starts = vec![None; to.len()];
            starts[dim] = Some(place);
            let placed = self.site.put(room, part, &starts)?;
            let placed = self.site.cut(placed, to)?;
            let table: Vec<i64> =
                hop.rows.iter().map(|rows| rows.map_or(0, |rows| rows.to + rows.count)).collect();
            let end = self.entry(axes, &table)?;
            let inside = self.rows_are(to, dim, place, end)?;
            result = tensor::select(&mut self.site.builder(), inside, placed, result)?;
        }
        Ok(result)
    }

    /// The entry of a table for the coordinate of the device.
    fn entry(&mut self, axes: &[u8], table: &[i64]) -> Made {
        if table.iter().all(|&entry| entry == table[0]) {
            return self.site.number(table[0]);
        }
        let place = self.coordinate(&self.refs(axes))?;
        let table = self.site.numbers(table)?;
        let entry = self.site.window(table, &[Some(place)], &[1])?;
        self.site.reshape(entry, &[])
    }

    fn first_row(&mut self, axes: &[u8], (start, step): (i64, i64)) -> Made {
        let table: Vec<i64> = (0..self.size(axes) as i64).map(|device| start + step * device).collect();
        self.entry(axes, &table)
    }

    /// What lies between two places of the dimension, of whose rows the first one here has the number `first`; 0 elsewhere.
    fn rows_between(&mut self, value: ValueId, dim: usize, first: ValueId, (low, high): (i64, i64)) -> Made {
        let dims = self.site.dims(value);
        let bounds = [low, high].map(|bound| -> Result<ValueId, Diagnostic> {
            let bound = self.site.number(bound)?;
            tensor::subtract(&mut self.site.builder(), bound, first)
        });
        let [low, high] = bounds;
        let inside = self.rows_are(&dims, dim, low?, high?)?;
        let zero = self.site.splat(&dims, self.site.element(value), 0.0)?;
        tensor::select(&mut self.site.builder(), inside, value, zero)
    }

    /// Whether the rows of a dimension are between two numbers.
    fn rows_are(&mut self, dims: &[u64], dim: usize, low: ValueId, high: ValueId) -> Made {
        let ty = self.site.ty(dims, ElementType::I32);
        let row = tensor::iota(&mut self.site.builder(), ty, dim as i64)?;
        let [low, high] =
            [low, high].map(|bound| tensor::broadcast_in_dim(&mut self.site.builder(), bound, ty, &[]));
        let mut builder = self.site.builder();
        let from = tensor::compare(&mut builder, Direction::GreaterOrEqual, row, low?)?;
        let below = tensor::compare(&mut builder, Direction::Less, row, high?)?;
        tensor::and(&mut builder, from, below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_move_as_shares_do_are_alike() {
        // A halo of one row before and two after, on four devices of three rows each.
        let hops = hops(4, 3, 6, (-1, 3));
        let alike: Vec<(i64, Rows)> = hops.iter().map(|hop| (hop.further, hop.alike().unwrap())).collect();
        let expected = [
            (-1, Rows { from: 2, to: 0, count: 1 }),
            (0, Rows { from: 0, to: 1, count: 3 }),
            (1, Rows { from: 0, to: 4, count: 2 }),
        ];
        assert_eq!(alike, expected);
    }

    #[test]
    fn every_row_of_a_window_comes_from_one_place() {
        for (count, own, size, start, step) in
            [(3, 2, 3, 0, 2), (4, 3, 2, 1, 2), (4, 2, 5, -2, 2), (2, 5, 5, 0, 5), (5, 2, 2, 8, -2)]
        {
            let hops = hops(count, own, size, (start, step));
            for device in 0..count {
                for row in 0..size {
                    let wanted = start + step * device + row;
                    let held = hops.iter().filter_map(|hop| Some((hop.further, hop.rows[device as usize]?)));
                    let found: Vec<i64> = held
                        .filter(|(_, rows)| (rows.to..rows.to + rows.count).contains(&row))
                        .map(|(further, rows)| own * (device + further) + rows.from + row - rows.to)
                        .collect();
                    let exists = (0..own * count).contains(&wanted);
                    assert_eq!(found, if exists { vec![wanted] } else { vec![] }, "{device} {row}");
                }
            }
        }
    }
}
