//! The times of collectives.
//!
//! With k devices, B bytes of the whole tensor, a latency α and a time β for a byte, one level of links takes
//!
//! | collective | steps | bytes that a device sends |
//! |---|---|---|
//! | all-gather, reduce-scatter (ring) | k − 1 | (k − 1)/k · B |
//! | all-reduce (ring: a reduce-scatter, then an all-gather) | 2 (k − 1) | 2 (k − 1)/k · B |
//! | all-reduce (double binary tree) | 2 ⌈log₂ k⌉ | 2 B |
//! | all-to-all (pairwise) | k − 1 | (k − 1)/k · B/k |
//! | halo exchange, of h bytes | 1 | h |
//! | permute | 1 | B/k |
//!
//! and an all-reduce takes the faster way. (Thakur, Rabenseifner and Gropp, "Optimization of collective communication
//! operations in MPICH", 2005; Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction
//! and scan", 2009.)
//!
//! A group that spans several levels works level by level: an all-gather starts at the slowest links, while the parts are
//! small, a reduce-scatter ends there. A group that touches n blocks of one size and n' ≥ n of the next smaller one sends
//! (n' − n)/k · B per device over the level between, in ⌈n'/n⌉ − 1 steps; the bytes sum up to (k − 1)/k · B. So a
//! collective over two axes of a mesh costs what one over their product does, and less than one after the other. Steps add
//! up; bytes come in chunks that flow through all levels at the same time, so that the slowest level decides.
//!
//! All groups of a mesh work at the same time, as the devices of one program do: a link carries what all its devices
//! send. Of a permutation nothing is known, so all of it takes the slowest link; of a halo exchange only neighbours in
//! different blocks cross a link. Each collective is started like a kernel. An empty tensor takes no time.

use crate::hierarchy::members;
use crate::{Axis, Machine, Sharing, Time};

/// What devices do together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Collective {
    /// Each device has a part and gets the whole.
    AllGather,
    /// Each device has terms of the whole and gets the reduced whole.
    AllReduce,
    /// Each device has a part along one dimension and gets one along another.
    AllToAll,
    /// Each device gets the edges of its neighbours' parts.
    HaloExchange,
    /// Each device sends its part to one other.
    Permute,
    /// Each device has terms of the whole and gets a reduced part.
    ReduceScatter,
}

impl Collective {
    /// All of them, by name.
    pub const ALL: [Collective; 6] = [
        Collective::AllGather,
        Collective::AllReduce,
        Collective::AllToAll,
        Collective::HaloExchange,
        Collective::Permute,
        Collective::ReduceScatter,
    ];

    /// Its name, as in the ops of the `dist` dialect.
    pub fn name(self) -> &'static str {
        match self {
            Collective::AllGather => "all_gather",
            Collective::AllReduce => "all_reduce",
            Collective::AllToAll => "all_to_all",
            Collective::HaloExchange => "halo_exchange",
            Collective::Permute => "permute",
            Collective::ReduceScatter => "reduce_scatter",
        }
    }

    /// The bytes that a device of `devices` sends, rounded up, where rings reduce. `bytes` are those of the whole
    /// tensor; of a halo exchange, those of the halos of one device.
    pub fn sent_bytes(self, devices: u64, bytes: u64) -> u64 {
        if devices <= 1 {
            return 0;
        }
        let (k, whole) = (u128::from(devices), u128::from(bytes));
        let others = whole.saturating_mul(k - 1);
        let sent = match self {
            Collective::AllGather | Collective::ReduceScatter => others.div_ceil(k),
            Collective::AllReduce => others.saturating_mul(2).div_ceil(k),
            Collective::AllToAll => others.div_ceil(k * k),
            Collective::HaloExchange => whole,
            Collective::Permute => whole.div_ceil(k),
        };
        u64::try_from(sent).unwrap_or(u64::MAX)
    }
}

/// What a group does at one level.
struct Stage {
    level: usize,
    /// The blocks that it touches around the level, and inside of it.
    outer: u64,
    inner: u64,
}

impl Machine {
    /// How long a collective takes over the devices of a group, the product of some axes of a mesh. `bytes` are those of
    /// the whole tensor that the group holds (an all-to-all or a permutation moves one of `k` parts of it per device); of
    /// a halo exchange, those of the halos that a device gets. A group of one device takes no time.
    pub fn collective_time(&self, collective: Collective, group: &[Axis], bytes: u64) -> Time {
        let devices = members(group);
        if devices <= 1 || bytes == 0 {
            return Time::ZERO;
        }
        let blocks = self.blocks(group);
        let stages: Vec<Stage> = blocks
            .iter()
            .zip(&blocks[1..])
            .enumerate()
            .filter(|(_, (outer, inner))| outer < inner)
            .map(|(level, (&outer, &inner))| Stage { level, outer, inner })
            .collect();
        let model = |bytes: u64| self.modelled(collective, &stages, devices, bytes.into());
        self.spec.calibration.collective(collective, &blocks, bytes, model).unwrap_or_else(|| model(bytes))
    }

    fn modelled(&self, collective: Collective, stages: &[Stage], devices: u64, bytes: u128) -> Time {
        let k = u128::from(devices);
        let ratio = |stage: &Stage| stage.inner.div_ceil(stage.outer);
        let moving = match collective {
            Collective::AllGather | Collective::ReduceScatter | Collective::AllReduce => {
                let steps = |stage: &Stage| ratio(stage) - 1;
                let sent = |stage: &Stage| {
                    self.link_bytes(stage, (bytes * u128::from(stage.inner - stage.outer)).div_ceil(k))
                };
                let ring = self.flow(stages, steps, sent);
                if collective == Collective::AllReduce {
                    let steps = |stage: &Stage| 2 * u64::from(ceil_log2(ratio(stage)));
                    let tree = self.flow(stages, steps, |stage| 2 * self.edge_bytes(stage, devices, bytes));
                    tree.min(ring * 2)
                } else {
                    ring
                }
            }
            Collective::AllToAll => {
                let steps = |stage: &Stage| devices.div_ceil(stage.outer) - devices.div_ceil(stage.inner);
                let sent = |stage: &Stage| {
                    let (outer, inner) = (u128::from(stage.outer), u128::from(stage.inner));
                    self.link_bytes(stage, (bytes * (inner - outer)).div_ceil(k * outer * inner))
                };
                self.flow(stages, steps, sent)
            }
            Collective::HaloExchange => {
                // Neighbours exchange all at once, whatever lies between them.
                let edge = |stage: &Stage| {
                    self.flow(
                        std::slice::from_ref(stage),
                        |_| 1,
                        |stage| self.edge_bytes(stage, devices, bytes),
                    )
                };
                stages.iter().map(edge).max().unwrap_or_default()
            }
            Collective::Permute => {
                let sent = |stage: &Stage| self.link_bytes(stage, bytes.div_ceil(k));
                let whole = |stage: &Stage| self.flow(std::slice::from_ref(stage), |_| 1, sent);
                stages.iter().map(whole).max().unwrap_or_default()
            }
        };
        self.device().launch + moving
    }

    /// The steps of all stages one after the other, while so many bytes flow over a link of each.
    fn flow(&self, stages: &[Stage], steps: impl Fn(&Stage) -> u64, bytes: impl Fn(&Stage) -> u128) -> Time {
        let latency: Time =
            stages.iter().map(|stage| self.levels()[stage.level].latency * steps(stage)).sum();
        let slowest = stages
            .iter()
            .map(|stage| Time::at_rate(bytes(stage), self.levels()[stage.level].bandwidth))
            .max();
        latency + slowest.unwrap_or_default()
    }

    /// The bytes over a link where every device sends `bytes`.
    fn link_bytes(&self, stage: &Stage, bytes: u128) -> u128 {
        bytes.saturating_mul(self.senders(stage.level).into())
    }

    /// The bytes over a link where one device of each block that a group touches sends `bytes` to the next block: of the
    /// devices at the link, as many send as there are groups.
    fn edge_bytes(&self, stage: &Stage, devices: u64, bytes: u128) -> u128 {
        let edges = u128::from(self.senders(stage.level)) * u128::from(stage.inner);
        bytes.saturating_mul(edges.div_ceil(devices.into()))
    }

    /// How many devices send over one link of a level.
    fn senders(&self, level: usize) -> u64 {
        let below = self.devices_below(level);
        match self.levels()[level].sharing {
            Sharing::Port => 1,
            Sharing::Uplink => below,
            Sharing::Bus => below.saturating_mul(self.shape()[level]).min(self.devices()),
        }
    }
}

/// The least power of two that is no less, as its exponent.
fn ceil_log2(number: u64) -> u32 {
    number.max(1).next_power_of_two().trailing_zeros()
}
