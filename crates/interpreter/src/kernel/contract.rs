//! Sums of products: matrix products, batched contractions, convolutions.
//!
//! `sum(k) f(b, m, k) * g(b, k, n)`, where each factor is any expression, guards included. For each `b` the factors are
//! evaluated into packed panels, that of a convolution's window included (im2col), and multiplied by a kernel over small
//! tiles whose sums stay in registers (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008):
//!
//! ```text
//!            g: panels of NR columns            result: tiles of MR x NR
//!            ┌──┬──┬──┬──┐                      ┌──┬──┬──┬──┐
//!            │  │  │  │  │ K                    │  │  │  │  │
//!            └──┴──┴──┴──┘                      ├──┼──┼──┼──┤
//!   f: rows ───────────── KC at a time          └──┴──┴──┴──┘
//! ```
//!
//! Every sum has its terms in the order of the description and is rounded after each, so that the result is that of the
//! evaluator, bit for bit. A guard `if c then f * g else 0` becomes `(if c then f else 0) * g`; that is the same as long as
//! `g` is finite, which is looked at, since zero times anything finite adds nothing to a sum that started at +0.

use tofu_ir::ElementType::{self, *};
use tofu_tdl::{BinaryOp, Data, Literal, Reducer, Reduction, Scalar, ScalarId, VarId};

use super::column::Lane;
use super::compile::{Compiled, Compiler, Context, uses};
use super::linear::{Linear, Term};
use super::program::{Block, Program, Reg};
use super::rows::Rows;
use super::run::{BLOCK, Ran, State, Tensors, advance};

/// Rows of a tile.
const MR: usize = 4;
/// Rows that are packed at a time.
const MC: usize = 64;
/// Terms of each sum that are packed at a time.
const KC: usize = 512;
/// Columns that are packed at a time.
const NC: usize = 256;
/// With fewer products than this, packing does not pay.
const FEW: usize = 4096;

/// A sum of products, compiled.
pub(super) struct Contract {
    element: ElementType,
    batch: Vec<i64>,
    rows: usize,
    columns: usize,
    terms: usize,
    /// The factors: over rows and terms, and over terms and columns.
    left: Factor,
    right: Factor,
    /// Offsets in the result, over rows and columns.
    store: Rows,
}

struct Factor {
    program: Program,
    value: Reg,
    /// The other factor had a guard that was moved to this one; so the other must be finite.
    is_guarded: bool,
}

/// A sum of products as the description has it.
struct Product<'d> {
    data: &'d Data,
    guards: Vec<ScalarId>,
    factors: [ScalarId; 2],
}

impl Contract {
    /// The reduction over these variables of the result, if it is a sum of products that this can compute faster.
    pub(super) fn new(
        context: &Context<'_>,
        reduction: &Reduction,
        own: &[VarId],
    ) -> Compiled<Option<Contract>> {
        let data = context.data;
        let Some(product) = Product::of(data, reduction) else { return Ok(None) };
        let element = context.element_of(product.factors[0]);
        let is_supported = matches!(element, F32 | F64 | I8 | I16 | I32 | I64 | Ui8 | Ui16 | Ui32 | Ui64);
        if !is_supported || (context.has_data_indices && !product.guards.is_empty()) {
            return Ok(None);
        }
        let sides = |var: VarId| product.factors.map(|factor| uses(data, factor, var));
        let of = |wanted: [bool; 2]| -> Vec<VarId> {
            own.iter().copied().filter(|&var| sides(var) == wanted).collect()
        };
        let (batch, mut rows, mut columns) = (of([true, true]), of([true, false]), of([false, true]));
        let Some(mut guards) = product.guards_by_factor(own) else { return Ok(None) };
        // A variable that only guards use belongs to the side of the guard.
        for &var in own.iter().filter(|&&var| sides(var) == [false, false]) {
            let guarded = [0, 1].map(|side| guards[side].iter().any(|&guard| uses(data, guard, var)));
            match guarded {
                [true, false] => rows.push(var),
                [false, true] => columns.push(var),
                _ => return Ok(None),
            }
        }
        let count = |vars: &[VarId]| -> Compiled<usize> {
            Ok(context
                .ranges(vars)?
                .iter()
                .fold(1usize, |count, &extent| count.saturating_mul(extent as usize)))
        };
        let mut factors = product.factors;
        // The longer side gives the columns, along which the processor works.
        if count(&rows)? > count(&columns)? && count(&columns)? < 8 {
            (rows, columns) = (columns, rows);
            factors.swap(0, 1);
            guards.swap(0, 1);
        }
        let (row_count, column_count, terms) = (count(&rows)?, count(&columns)?, count(&reduction.vars)?);
        let products = row_count.saturating_mul(column_count).saturating_mul(terms);
        if row_count < 2 || column_count < 2 || products < FEW {
            return Ok(None);
        }
        let factor = |side: usize, axes: [&[VarId]; 2]| -> Compiled<Factor> {
            let program = context.program(&batch, &axes.concat(), |compiler, block| {
                guarded(compiler, block, &guards[side], factors[side], element)
            })?;
            let value = program.results[0];
            Ok(Factor { program, value, is_guarded: !guards[side].is_empty() })
        };
        let (left, right) = (factor(0, [&rows, &reduction.vars])?, factor(1, [&reduction.vars, &columns])?);
        let axes = [rows, columns].concat();
        let mut offset = Linear::default();
        let mut stride = 1i64;
        for (&var, extent) in own.iter().zip(context.ranges(own)?).rev() {
            let place = |vars: &[VarId]| vars.iter().position(|&other| other == var);
            let term = place(&axes).map(Term::Axis).or(place(&batch).map(Term::Point));
            offset = term.map_or(offset.clone(), |term| offset.plus(&Linear::term(term), stride));
            stride = stride.wrapping_mul(extent);
        }
        let store = Rows::new(&context.ranges(&axes)?, &[&offset]);
        let batch = context.ranges(&batch)?;
        Ok(Some(Contract {
            element,
            batch,
            rows: row_count,
            columns: column_count,
            terms,
            left,
            right,
            store,
        }))
    }

    /// Whether [`run`](Self::run) may leave the sums to be computed otherwise.
    pub(super) fn may_decline(&self) -> bool {
        self.left.is_guarded || self.right.is_guarded
    }

    /// Writes the sums into `target`. False if they have to be computed otherwise.
    pub(super) fn run(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<bool> {
        match self.element {
            F32 => self.run_lanes::<f32, 8>(tensors, target),
            F64 => self.run_lanes::<f64, 4>(tensors, target),
            I8 | Ui8 => self.run_lanes::<i8, 16>(tensors, target),
            I16 | Ui16 => self.run_lanes::<i16, 8>(tensors, target),
            I32 | Ui32 => self.run_lanes::<i32, 8>(tensors, target),
            _ => self.run_lanes::<i64, 4>(tensors, target),
        }
    }

    fn run_lanes<L: Number, const NR: usize>(&self, tensors: Tensors<'_>, target: &mut [u8]) -> Ran<bool> {
        if self.batch.contains(&0) {
            return Ok(true);
        }
        let mut point = vec![0; self.batch.len()];
        let mut left = State::new(&self.left.program, tensors, BLOCK);
        let mut right = State::new(&self.right.program, tensors, BLOCK);
        let mut panels: Vec<L> = Vec::new();
        let mut rows: Vec<L> = Vec::new();
        let mut tile: Vec<L> = Vec::new();
        loop {
            left.points[..point.len()].copy_from_slice(&point);
            right.points[..point.len()].copy_from_slice(&point);
            for first_column in (0..self.columns).step_by(NC) {
                let columns = NC.min(self.columns - first_column);
                let is_finite = self.pack_columns::<L, NR>(&mut right, first_column, columns, &mut panels)?;
                if self.left.is_guarded && !is_finite {
                    return Ok(false);
                }
                let width = columns.next_multiple_of(NR);
                for first_row in (0..self.rows).step_by(MC) {
                    let height = MC.min(self.rows - first_row);
                    tile.clear();
                    tile.resize(height.next_multiple_of(MR) * width, L::ZERO);
                    for first_term in (0..self.terms).step_by(KC) {
                        let terms = KC.min(self.terms - first_term);
                        let is_finite =
                            self.pack_rows(&mut left, (first_row, height), (first_term, terms), &mut rows)?;
                        if self.right.is_guarded && !is_finite {
                            return Ok(false);
                        }
                        for (panel, columns) in
                            panels.chunks_exact(self.terms * NR).zip((0..width).step_by(NR))
                        {
                            let panel = panel[first_term * NR..].as_chunks::<NR>().0;
                            multiply(&rows, &panel[..terms], &mut tile, (columns, width));
                        }
                    }
                    self.store_tile(&tile, (first_row, height), (first_column, columns), &point, target);
                }
            }
            if !advance(&mut point, &self.batch) {
                return Ok(true);
            }
        }
    }

    /// Evaluates the right factor for some columns into panels of `NR` of them; whether all elements are finite.
    fn pack_columns<L: Number, const NR: usize>(
        &self,
        state: &mut State<'_>,
        first: usize,
        columns: usize,
        panels: &mut Vec<L>,
    ) -> Ran<bool> {
        panels.clear();
        panels.resize(columns.next_multiple_of(NR) * self.terms, L::ZERO);
        // Whole rows at a time, as many as a block holds.
        let height = if columns == self.columns { BLOCK / columns } else { 1 };
        let mut is_finite = true;
        for term in (0..self.terms).step_by(height) {
            let height = height.min(self.terms - term);
            state.run(term * self.columns + first, height * columns)?;
            let elements = L::lanes(state.column(self.right.value));
            for (term, row) in (term..).zip(elements.chunks_exact(columns)) {
                for (panel, chunk) in row.chunks(NR).enumerate() {
                    let to = &mut panels[(panel * self.terms + term) * NR..];
                    for (to, &element) in to.iter_mut().zip(chunk) {
                        *to = L::get(element);
                        is_finite &= to.is_finite();
                    }
                }
            }
        }
        Ok(is_finite)
    }

    /// Evaluates the left factor for some rows and terms; whether all elements are finite.
    fn pack_rows<L: Number>(
        &self,
        state: &mut State<'_>,
        (first_row, rows): (usize, usize),
        (first_term, terms): (usize, usize),
        packed: &mut Vec<L>,
    ) -> Ran<bool> {
        packed.clear();
        let height = if terms == self.terms { (BLOCK / terms).max(1) } else { 1 };
        for row in (first_row..first_row + rows).step_by(height) {
            let height = height.min(first_row + rows - row);
            state.run(row * self.terms + first_term, height * terms)?;
            let elements = L::lanes(state.column(self.left.value));
            packed.extend(elements.iter().map(|&element| L::get(element)));
        }
        let is_finite = packed.iter().all(|element| element.is_finite());
        packed.resize(rows.next_multiple_of(MR) * terms, L::ZERO);
        Ok(is_finite)
    }

    fn store_tile<L: Lane>(
        &self,
        tile: &[L],
        (first_row, height): (usize, usize),
        (first_column, columns): (usize, usize),
        point: &[i64],
        target: &mut [u8],
    ) {
        let width = tile.len() / height.next_multiple_of(MR);
        let target = L::lanes_mut(target);
        for (row, sums) in (first_row..first_row + height).zip(tile.chunks_exact(width)) {
            self.store.walk(row * self.columns + first_column, columns, point, |row| {
                let mut offset = row.values[0];
                for sum in &sums[row.at..row.at + row.length] {
                    if let Some(place) =
                        usize::try_from(offset).ok().and_then(|offset| target.get_mut(offset))
                    {
                        *place = sum.put();
                    }
                    offset = offset.wrapping_add(row.steps[0]);
                }
                true
            });
        }
    }
}

/// Adds the products of packed rows with one panel to the columns of a tile from `first` on.
// Inside of a larger function the compiler loses sight of the vectors.
#[inline(never)]
fn multiply<L: Number, const NR: usize>(
    rows: &[L],
    panel: &[[L; NR]],
    tile: &mut [L],
    (first, width): (usize, usize),
) {
    let rows = rows.chunks_exact(MR * panel.len());
    for (rows, tile) in rows.zip(tile.chunks_exact_mut(MR * width)) {
        let mut sums = [[L::ZERO; NR]; MR];
        for (sums, tile) in sums.iter_mut().zip(tile.chunks_exact(width)) {
            sums.copy_from_slice(&tile[first..first + NR]);
        }
        let (a, rest) = rows.split_at(panel.len());
        let (b, rest) = rest.split_at(panel.len());
        let (c, d) = rest.split_at(panel.len());
        for ((((columns, &a), &b), &c), &d) in panel.iter().zip(a).zip(b).zip(c).zip(d) {
            for (sums, row) in sums.iter_mut().zip([a, b, c, d]) {
                for (sum, &column) in sums.iter_mut().zip(columns) {
                    *sum = sum.plus_product(row, column);
                }
            }
        }
        for (sums, tile) in sums.iter().zip(tile.chunks_exact_mut(width)) {
            tile[first..first + NR].copy_from_slice(sums);
        }
    }
}

/// `if all guards then value else 0`.
fn guarded(
    compiler: &mut Compiler<'_, '_>,
    block: &mut Block,
    guards: &[ScalarId],
    value: ScalarId,
    element: ElementType,
) -> Compiled<Vec<Reg>> {
    let mut condition = None;
    for &guard in guards {
        let guard = compiler.scalar(guard, block)?;
        condition = compiler.both(condition, Some(guard), block);
    }
    Ok(vec![match condition {
        Some(condition) => compiler.guarded(condition, value, element, block)?,
        None => compiler.scalar(value, block)?,
    }])
}

impl<'d> Product<'d> {
    /// `sum(…) if guards then a * b else 0`.
    fn of(data: &'d Data, reduction: &Reduction) -> Option<Product<'d>> {
        let &[mut body] = &reduction.bodies[..] else { return None };
        if reduction.reducer != Reducer::Sum {
            return None;
        }
        let mut guards = Vec::new();
        loop {
            match *data.scalar(body) {
                Scalar::Select(condition, then, otherwise) if is_zero(data, otherwise) => {
                    conjuncts(data, condition, &mut guards);
                    body = then;
                }
                Scalar::Binary(BinaryOp::Mul, a, b) => {
                    return Some(Product { data, guards, factors: [a, b] });
                }
                _ => return None,
            }
        }
    }

    /// Each guard at a factor that uses all variables that the guard uses, or none that the other factor uses.
    fn guards_by_factor(&self, own: &[VarId]) -> Option<[Vec<ScalarId>; 2]> {
        let mut sides = [Vec::new(), Vec::new()];
        for &guard in &self.guards {
            let used: Vec<VarId> = own.iter().copied().filter(|&var| uses(self.data, guard, var)).collect();
            // Variables of the reduction may be used on either side.
            let fits = |side: usize| used.iter().all(|&var| uses(self.data, self.factors[side], var));
            let is_foreign =
                |side: usize| used.iter().all(|&var| !uses(self.data, self.factors[1 - side], var));
            let side = (0..2).find(|&side| fits(side)).or((0..2).find(|&side| is_foreign(side)))?;
            sides[side].push(guard);
        }
        Some(sides)
    }
}

fn is_zero(data: &Data, id: ScalarId) -> bool {
    matches!(data.scalar(id), Scalar::Literal(Literal::Int(0) | Literal::Float(0)))
}

/// The conditions that must all hold.
pub(super) fn conjuncts(data: &Data, condition: ScalarId, found: &mut Vec<ScalarId>) {
    match *data.scalar(condition) {
        Scalar::Binary(BinaryOp::And, a, b) => {
            conjuncts(data, a, found);
            conjuncts(data, b, found);
        }
        _ => found.push(condition),
    }
}

/// A number that products are summed of.
trait Number: Lane {
    const ZERO: Self;
    fn plus_product(self, a: Self, b: Self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! floats {
    ($($lane:ident)*) => {$(
        impl Number for $lane {
            const ZERO: $lane = 0.0;
            fn plus_product(self, a: $lane, b: $lane) -> $lane {
                self + a * b
            }
            fn is_finite(self) -> bool {
                $lane::is_finite(self)
            }
        }
    )*};
}

macro_rules! integers {
    ($($lane:ident)*) => {$(
        impl Number for $lane {
            const ZERO: $lane = 0;
            fn plus_product(self, a: $lane, b: $lane) -> $lane {
                self.wrapping_add(a.wrapping_mul(b))
            }
            fn is_finite(self) -> bool {
                true
            }
        }
    )*};
}

floats!(f32 f64);
integers!(i8 i16 i32 i64);
