//! Machine files.
//!
//! A file either says everything, or `inherits` a preset and says what is different. Levels are told apart by their
//! names: one that the preset has is changed, a new one is put around what there is. Tables of measured times take the
//! place of those of the same work.

use tofu_diagnostics::{Diagnostic, FileId, SourceMap, Span, codes, suggest};
use tofu_ir::ElementType;

use crate::calibration::{Calibration, CollectiveTable, CopyTable, KernelSize, KernelTable, Points};
use crate::document::{Reader, Table};
use crate::machine::{MAX_DEVICES, Spec, capacity, plural_devices};
use crate::quantity::Kind;
use crate::{Collective, Device, Direction, Host, Level, Machine, Sharing, Time, presets};

impl Machine {
    /// Reads a machine file.
    ///
    /// # Errors
    /// All that is wrong with it, in the order of the text.
    pub fn parse(sources: &SourceMap, file: FileId) -> Result<Machine, Vec<Diagnostic>> {
        let file = sources.file(file);
        let mut reader = Reader::new(file);
        let document = reader.document(file.text());
        if reader.has_found() {
            return Err(reader.finish());
        }
        let root = reader.root(&document);
        match read(&mut reader, &root, file.name()) {
            Some(machine) if !reader.has_found() => Ok(machine),
            _ => Err(reader.finish()),
        }
    }
}

fn read(reader: &mut Reader, root: &Table<'_>, file: &str) -> Option<Machine> {
    let known =
        ["inherits", "name", "summary", "devices", "device", "level", "host", "kernel", "collective", "copy"];
    reader.check_keys(root, &known);
    // What an unknown preset would have given is not reported as missing.
    let base = match reader.text(root, "inherits") {
        None => None,
        Some((name, span)) => Some(inherited(reader, name, span)?),
    };
    let spec = base.as_ref().map(|machine| &*machine.spec);
    let name = reader.text(root, "name").map(|(name, _)| name.into());
    let summary = reader.text(root, "summary").map(|(summary, _)| summary.into());
    let device = device(reader, root, spec.map(|spec| &spec.device));
    let levels = levels(reader, root, spec.map_or(&[], |spec| &spec.levels));
    let host = host(reader, root, spec.map(|spec| &spec.host));
    let devices = reader.count(root, "devices");
    let calibration = calibration(reader, root, levels.as_deref());
    let levels = levels?;
    let held = capacity(&levels);
    if let Some((devices, span)) = devices.filter(|&(devices, _)| devices > held) {
        let message = format!("the levels hold {}, but {devices} are to be used", plural_devices(held));
        reader.contradiction(span, message);
    }
    let inherited = base.as_ref().map(Machine::devices).filter(|&devices| devices <= held);
    let devices = devices.map(|(devices, _)| devices).or(inherited).unwrap_or(held);
    let spec = Spec {
        name: name.unwrap_or_else(|| file.into()),
        summary: summary.or_else(|| spec.map(|spec| spec.summary.clone())).unwrap_or_default(),
        device: device?,
        levels: levels.into(),
        host: host?,
        calibration,
    };
    Some(Machine::new(spec, devices.min(held)))
}

fn inherited(reader: &mut Reader, name: &str, span: Span) -> Option<Machine> {
    let machine = Machine::preset(name);
    if machine.is_none() {
        let message = format!("there is no machine `{name}`");
        let help = suggest::did_you_mean(name, presets());
        reader.report(Diagnostic::error(&codes::UNKNOWN_MACHINE, span, message).maybe_help(help));
    }
    machine
}

fn device(reader: &mut Reader, root: &Table<'_>, base: Option<&Device>) -> Option<Device> {
    let table = reader.table(root, "device", "`[device]`");
    reader.check_keys(&table, &["name", "memory", "memory_bandwidth", "launch", "flops"]);
    let name = reader.text(&table, "name").map(|(name, _)| name.into());
    let mut quantity = |key: &str, kind, base: Option<u64>| {
        let read = reader.quantity(&table, key, kind);
        reader.required(&table, key, read, base)
    };
    let memory = quantity("memory", Kind::Bytes, base.map(|base| base.memory));
    let memory_bandwidth =
        quantity("memory_bandwidth", Kind::Bandwidth, base.map(|base| base.memory_bandwidth));
    let launch = quantity("launch", Kind::Time, base.map(|base| base.launch.picoseconds()));
    let flops = flops(reader, &table, base.map_or(&[], |base| &base.flops));
    Some(Device {
        name: name.or_else(|| base.map(|base| base.name.clone())).unwrap_or_default(),
        memory: memory?,
        memory_bandwidth: memory_bandwidth?,
        launch: Time::from_picoseconds(launch?),
        flops: flops?,
    })
}

fn flops(
    reader: &mut Reader,
    device: &Table<'_>,
    base: &[(ElementType, u64)],
) -> Option<Box<[(ElementType, u64)]>> {
    let table = reader.table(device, "flops", "`[device.flops]`");
    let mut rates = base.to_vec();
    let mut is_whole = true;
    for (name, span, value) in reader.entries(&table) {
        let value_span = reader.span(value.span());
        match (element_type(reader, name, span), reader.measured(value, value_span, Kind::FlopRate)) {
            (Some(element), Some(rate)) => {
                rates.retain(|&(other, _)| other != element);
                rates.push((element, rate));
            }
            _ => is_whole = false,
        }
    }
    if rates.is_empty() && is_whole {
        reader.missing(device, "flops");
    }
    if rates.is_empty() {
        return None;
    }
    rates.sort_by_key(|&(element, _)| element);
    Some(rates.into())
}

fn element_type(reader: &mut Reader, name: &str, span: Span) -> Option<ElementType> {
    let element = ElementType::from_name(name);
    if element.is_none() {
        let message = format!("there is no element type `{name}`");
        let help = suggest::did_you_mean(name, ElementType::ALL.map(ElementType::name));
        reader.report(Diagnostic::error(&codes::MACHINE_ENTRY, span, message).maybe_help(help));
    }
    element
}

const SHARINGS: [(&str, Sharing); 3] =
    [("port", Sharing::Port), ("uplink", Sharing::Uplink), ("bus", Sharing::Bus)];

fn levels(reader: &mut Reader, root: &Table<'_>, base: &[Level]) -> Option<Vec<Level>> {
    let mut levels = base.to_vec();
    let mut places: Vec<(Box<str>, Span)> = Vec::new();
    let mut new = Vec::new();
    let mut is_whole = true;
    for table in reader.tables(root, "level", "`[[level]]`") {
        let level = level(reader, &table, base);
        let Some(level) = level else {
            is_whole = false;
            continue;
        };
        if let Some(&(_, first)) = places.iter().find(|(name, _)| *name == level.name) {
            let message = format!("there are two levels `{}`", level.name);
            let diagnostic = Diagnostic::error(&codes::MACHINE_CONTRADICTION, table.span, message);
            reader.report(diagnostic.secondary(first, "this is the first"));
            is_whole = false;
            continue;
        }
        places.push((level.name.clone(), table.span));
        match levels.iter_mut().find(|other| other.name == level.name) {
            Some(other) => *other = level,
            None => new.push(level),
        }
    }
    levels.splice(0..0, new);
    if !is_whole {
        return None;
    }
    if levels.is_empty() {
        reader.missing(root, "level");
        return None;
    }
    let place =
        |name: &str| places.iter().find(|(other, _)| **other == *name).map_or(root.span, |&(_, span)| span);
    if capacity(&levels) > MAX_DEVICES {
        let message = format!("the levels hold {} devices, more than {MAX_DEVICES}", capacity(&levels));
        reader.contradiction(place(&levels[0].name), message);
        return None;
    }
    check_order(reader, &levels, place);
    Some(levels)
}

fn level(reader: &mut Reader, table: &Table<'_>, base: &[Level]) -> Option<Level> {
    reader.check_keys(table, &["name", "count", "bandwidth", "latency", "sharing"]);
    let name = reader.text(table, "name").map(|(name, _)| name);
    let name = reader.required(table, "name", name, None)?;
    let base = base.iter().find(|level| *level.name == *name);
    let count = reader.count(table, "count").map(|(count, _)| count);
    let count = reader.required(table, "count", count, base.map(|base| base.count));
    let bandwidth = reader.quantity(table, "bandwidth", Kind::Bandwidth);
    let bandwidth = reader.required(table, "bandwidth", bandwidth, base.map(|base| base.bandwidth));
    let latency = reader.quantity(table, "latency", Kind::Time);
    let latency = reader.required(table, "latency", latency, base.map(|base| base.latency.picoseconds()));
    let sharing = reader.choice(table, "sharing", &SHARINGS);
    let sharing = reader.required(table, "sharing", sharing, base.map(|base| base.sharing));
    Some(Level {
        name: name.into(),
        count: count?,
        bandwidth: bandwidth?,
        latency: Time::from_picoseconds(latency?),
        sharing: sharing?,
    })
}

/// Reports a level that gives a device more than the level inside of it.
fn check_order(reader: &mut Reader, levels: &[Level], place: impl Fn(&str) -> Span) {
    let sharers = |index: usize| match levels[index].sharing {
        Sharing::Port => 1,
        Sharing::Uplink => capacity(&levels[index + 1..]),
        Sharing::Bus => capacity(&levels[index..]),
    };
    for (index, pair) in levels.windows(2).enumerate() {
        let (outer, inner) = (&pair[0], &pair[1]);
        let per_device = [index, index + 1].map(|index| levels[index].bandwidth / sharers(index));
        if per_device[0] > per_device[1] {
            let message = format!(
                "level `{}` gives a device {} GB/s, more than `{}` inside of it, which gives {} GB/s",
                outer.name,
                per_device[0] as f64 / 1e9,
                inner.name,
                per_device[1] as f64 / 1e9
            );
            let span = place(&outer.name).or(place(&inner.name));
            let diagnostic = Diagnostic::error(&codes::MACHINE_CONTRADICTION, span, message);
            reader.report(diagnostic.help("levels go from the slowest links inwards"));
        }
    }
}

fn host(reader: &mut Reader, root: &Table<'_>, base: Option<&Host>) -> Option<Host> {
    let table = reader.table(root, "host", "`[host]`");
    reader.check_keys(&table, &["devices", "memory", "to_device", "from_device", "latency", "shared_by"]);
    let devices = reader.count(&table, "devices").map(|(devices, _)| devices);
    let devices = reader.required(&table, "devices", devices, base.map(|base| base.devices));
    let written = reader.count(&table, "shared_by");
    let shared_by = written.map(|(shared_by, _)| shared_by);
    let shared_by = reader.required(&table, "shared_by", shared_by, base.map(|base| base.shared_by));
    let mut quantity = |key: &str, kind, base: Option<u64>| {
        let read = reader.quantity(&table, key, kind);
        reader.required(&table, key, read, base)
    };
    let memory = quantity("memory", Kind::Bytes, base.map(|base| base.memory));
    let to_device = quantity("to_device", Kind::Bandwidth, base.map(|base| base.to_device));
    let from_device = quantity("from_device", Kind::Bandwidth, base.map(|base| base.from_device));
    let latency = quantity("latency", Kind::Time, base.map(|base| base.latency.picoseconds()));
    let (devices, shared_by) = (devices?, shared_by?);
    if shared_by > devices {
        let span = written.map_or(table.span, |(_, span)| span);
        let message = format!(
            "{shared_by} devices share a link to the host, but the host serves {}",
            plural_devices(devices)
        );
        reader.contradiction(span, message);
    }
    Some(Host {
        devices,
        memory: memory?,
        to_device: to_device?,
        from_device: from_device?,
        latency: Time::from_picoseconds(latency?),
        shared_by,
    })
}

const DIRECTIONS: [(&str, Direction); 2] =
    [("to_device", Direction::ToDevice), ("from_device", Direction::FromDevice)];

fn calibration(reader: &mut Reader, root: &Table<'_>, levels: Option<&[Level]>) -> Calibration {
    let mut all = Calibration::default();
    for table in reader.tables(root, "kernel", "`[[kernel]]`") {
        let Some(new) = kernel_table(reader, &table) else { continue };
        let is_repeated = all.kernels.iter().any(|old| old.op == new.op && old.element == new.element);
        add(reader, &table, &mut all.kernels, new, is_repeated);
    }
    for table in reader.tables(root, "collective", "`[[collective]]`") {
        let Some(new) = collective_table(reader, &table, levels) else { continue };
        let is_same = |old: &CollectiveTable| old.collective == new.collective && old.blocks == new.blocks;
        let is_repeated = all.collectives.iter().any(is_same);
        add(reader, &table, &mut all.collectives, new, is_repeated);
    }
    for table in reader.tables(root, "copy", "`[[copy]]`") {
        let Some(new) = copy_table(reader, &table) else { continue };
        let is_repeated = all.copies.iter().any(|old| old.direction == new.direction);
        add(reader, &table, &mut all.copies, new, is_repeated);
    }
    all
}

fn add<T>(reader: &mut Reader, table: &Table<'_>, tables: &mut Vec<T>, new: T, is_repeated: bool) {
    if is_repeated {
        reader.contradiction(table.span, format!("{} for the same work stands here again", table.name));
    } else {
        tables.push(new);
    }
}

fn kernel_table(reader: &mut Reader, table: &Table<'_>) -> Option<KernelTable> {
    reader.check_keys(table, &["op", "element", "flops", "bytes"]);
    let op = reader.text(table, "op");
    let op = reader.required(table, "op", op, None);
    let element = reader.text(table, "element");
    let element = reader.required(table, "element", element, None);
    let element = element.and_then(|(name, span)| element_type(reader, name, span));
    let (size, points) = match (reader.entry(table, "flops"), reader.entry(table, "bytes")) {
        (Some(_), Some((_, span))) => {
            reader.contradiction(span, "a kernel is measured by `flops` or by `bytes`, not by both");
            return None;
        }
        (Some(_), None) => (KernelSize::Flops, points(reader, table, "flops", Kind::Flops)),
        (None, _) => (KernelSize::Bytes, points(reader, table, "bytes", Kind::Bytes)),
    };
    let (op, span) = op?;
    Some(KernelTable { op: op.into(), span, element: element?, size, points: points? })
}

fn collective_table(
    reader: &mut Reader,
    table: &Table<'_>,
    levels: Option<&[Level]>,
) -> Option<CollectiveTable> {
    reader.check_keys(table, &["kind", "group", "bytes"]);
    let kinds = Collective::ALL.map(|collective| (collective.name(), collective));
    let collective = reader.choice(table, "kind", &kinds);
    let collective = reader.required(table, "kind", collective, None);
    let blocks = group(reader, table, levels);
    let points = points(reader, table, "bytes", Kind::Bytes);
    Some(CollectiveTable { collective: collective?, blocks: blocks?, points: points? })
}

/// How many blocks a group touches that has so many members at each level, the innermost last.
fn group(reader: &mut Reader, table: &Table<'_>, levels: Option<&[Level]>) -> Option<Box<[u64]>> {
    let Some((_, span)) = reader.entry(table, "group") else {
        reader.missing(table, "group");
        return None;
    };
    let items = reader.list(table, "group");
    let mut sizes = Vec::new();
    for (value, span) in items {
        sizes.push((reader.positive(value, span)?, span));
    }
    let levels = levels?;
    let Some(outside) = levels.len().checked_sub(sizes.len()) else {
        let message = format!("`group` has {} numbers, but the machine {} levels", sizes.len(), levels.len());
        reader.contradiction(span, message);
        return None;
    };
    let mut blocks = vec![1; outside + 1];
    let mut product = 1;
    for (&(size, span), level) in sizes.iter().zip(&levels[outside..]) {
        if size > level.count {
            let message =
                format!("level `{}` joins {}, but `group` has {size} there", level.name, level.count);
            reader.contradiction(span, message);
            return None;
        }
        product *= size;
        blocks.push(product);
    }
    if product <= 1 {
        reader.contradiction(span, "a group of one device does nothing together");
        return None;
    }
    Some(blocks.into())
}

fn copy_table(reader: &mut Reader, table: &Table<'_>) -> Option<CopyTable> {
    reader.check_keys(table, &["direction", "bytes"]);
    let direction = reader.choice(table, "direction", &DIRECTIONS);
    let direction = reader.required(table, "direction", direction, None);
    let points = points(reader, table, "bytes", Kind::Bytes);
    Some(CopyTable { direction: direction?, points: points? })
}

/// Pairs of a size and its time.
fn points(reader: &mut Reader, table: &Table<'_>, key: &str, kind: Kind) -> Option<Points> {
    let Some((_, list_span)) = reader.entry(table, key) else {
        reader.missing(table, key);
        return None;
    };
    let mut points: Vec<(u64, Time)> = Vec::new();
    for (value, span) in reader.list(table, key) {
        let pair = reader.items(value, span)?;
        let &[(size, size_span), (time, time_span)] = &pair[..] else {
            reader.wrong(span, "a size and a time");
            return None;
        };
        let size = reader.measured(size, size_span, kind)?;
        let time = reader.measured(time, time_span, Kind::Time)?;
        if time == 0 {
            reader.contradiction(time_span, "nothing takes no time");
            return None;
        }
        if points.last().is_some_and(|&(before, _)| before >= size) {
            reader.contradiction(size_span, "sizes must ascend");
            return None;
        }
        points.push((size, Time::from_picoseconds(time)));
    }
    if points.is_empty() {
        reader.wrong(list_span, "at least one size with its time");
        return None;
    }
    Some(Points(points.into()))
}
