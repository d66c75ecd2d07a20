//! The place where ops are put that stand for one of `dist`, and those that every one of these needs.

use tofu_diagnostics::Diagnostic;
use tofu_dialect_tensor as tensor;
use tofu_ir::{Attr, Builder, DenseData, ElementType, Module, OpId, Type, ValueId};
use tofu_sharding::{AxisRef, Mesh};

/// Before an op, on its behalf.
pub(super) struct Site<'m> {
    pub(super) module: &'m mut Module,
    pub(super) op: OpId,
}

pub(super) type Made = Result<ValueId, Diagnostic>;

impl Site<'_> {
    pub(super) fn builder(&mut self) -> Builder<'_> {
        Builder::before(self.module, self.op).origin(self.op)
    }

    pub(super) fn element(&self, value: ValueId) -> ElementType {
        self.module.tensor_type(value).map_or(ElementType::F32, |ty| ty.element)
    }

    pub(super) fn dims(&self, value: ValueId) -> Vec<u64> {
        let dims = self.module.tensor_type(value).and_then(|ty| ty.static_dims());
        dims.unwrap_or_default().to_vec()
    }

    pub(super) fn ty(&mut self, dims: &[u64], element: ElementType) -> Type {
        self.module.interner.tensor(dims, element)
    }

    pub(super) fn reshape(&mut self, value: ValueId, dims: &[u64]) -> Made {
        if self.dims(value) == dims {
            return Ok(value);
        }
        let ty = self.ty(dims, self.element(value));
        tensor::reshape(&mut self.builder(), value, ty)
    }

    pub(super) fn transpose(&mut self, value: ValueId, order: &[usize]) -> Made {
        if order.is_sorted() {
            return Ok(value);
        }
        let order: Vec<i64> = order.iter().map(|&dim| dim as i64).collect();
        tensor::transpose(&mut self.builder(), value, &order)
    }

    pub(super) fn splat(&mut self, dims: &[u64], element: ElementType, value: f64) -> Made {
        let ty = self.ty(dims, element);
        tensor::splat(&mut self.builder(), ty, value)
    }

    /// An integer that counts elements or devices.
    pub(super) fn number(&mut self, value: i64) -> Made {
        self.splat(&[], ElementType::I32, value as f64)
    }

    /// Integers, one for each device of a group, or other lists.
    pub(super) fn numbers(&mut self, values: &[i64]) -> Made {
        let ty = self.ty(&[values.len() as u64], ElementType::I32);
        let bytes = values.iter().flat_map(|&value| (value as i32).to_le_bytes()).collect();
        let dense = self.module.interner.dense(ty, DenseData::from_bytes(bytes, ElementType::I32));
        tensor::constant(&mut self.builder(), dense)
    }

    /// A list of lists of devices, of one length.
    pub(super) fn devices(&mut self, lists: &[Vec<u64>]) -> Attr {
        let width = lists.first().map_or(0, Vec::len);
        let ty = self.ty(&[lists.len() as u64, width as u64], ElementType::I64);
        let bytes = lists.iter().flatten().flat_map(|&device| device.to_le_bytes()).collect();
        self.module.interner.dense(ty, DenseData::from_bytes(bytes, ElementType::I64))
    }

    /// A tensor of these extents, no smaller ones, with zeros behind what there is.
    pub(super) fn padded(&mut self, value: ValueId, dims: &[u64]) -> Made {
        let own = self.dims(value);
        let high: Vec<i64> = dims.iter().zip(&own).map(|(all, own)| (all - own) as i64).collect();
        self.pad(value, &vec![0; own.len()], &high)
    }

    pub(super) fn pad(&mut self, value: ValueId, low: &[i64], high: &[i64]) -> Made {
        if low.iter().chain(high).all(|&more| more == 0) {
            return Ok(value);
        }
        let zero = self.splat(&[], self.element(value), 0.0)?;
        tensor::pad(&mut self.builder(), value, zero, low, high, &vec![0; low.len()])
    }

    /// The first elements of each dimension.
    pub(super) fn cut(&mut self, value: ValueId, dims: &[u64]) -> Made {
        let start = vec![0; dims.len()];
        self.part(value, &start, dims)
    }

    /// So many elements of each dimension, from `start` on.
    pub(super) fn part(&mut self, value: ValueId, start: &[u64], dims: &[u64]) -> Made {
        if self.dims(value) == dims {
            return Ok(value);
        }
        let limit: Vec<i64> = start.iter().zip(dims).map(|(start, size)| (start + size) as i64).collect();
        let start: Vec<i64> = start.iter().map(|&start| start as i64).collect();
        tensor::slice(&mut self.builder(), value, &start, &limit, &vec![1; dims.len()])
    }

    /// So many elements of each dimension; where they start in each is a number, or nothing for 0.
    pub(super) fn window(&mut self, value: ValueId, starts: &[Option<ValueId>], dims: &[u64]) -> Made {
        let starts = self.starts(starts)?;
        let sizes: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        tensor::dynamic_slice(&mut self.builder(), value, &starts, &sizes)
    }

    /// A tensor with a part of it replaced.
    pub(super) fn put(&mut self, into: ValueId, value: ValueId, starts: &[Option<ValueId>]) -> Made {
        let starts = self.starts(starts)?;
        tensor::dynamic_update_slice(&mut self.builder(), into, value, &starts)
    }

    fn starts(&mut self, starts: &[Option<ValueId>]) -> Result<Vec<ValueId>, Diagnostic> {
        starts
            .iter()
            .map(|start| match start {
                Some(start) => Ok(*start),
                None => self.number(0),
            })
            .collect()
    }

    /// A number times a constant.
    pub(super) fn times(&mut self, value: ValueId, factor: u64) -> Made {
        if factor == 1 {
            return Ok(value);
        }
        let factor = self.number(factor as i64)?;
        tensor::multiply(&mut self.builder(), value, factor)
    }

    /// The coordinate of a device along some axes, of which the first is the major one.
    pub(super) fn coordinate(&mut self, mesh: &Mesh, axes: &[AxisRef]) -> Made {
        let id = self.ty(&[], ElementType::Ui32);
        let op = self.builder().op(&tensor::PARTITION_ID).result(id).build();
        let device = self.module.result(op, 0);
        let device = tensor::convert(&mut self.builder(), device, ElementType::I32)?;
        let mut sum: Option<ValueId> = None;
        let mut minor = 1;
        for &axis in axes.iter().rev() {
            let stride = mesh.stride(axis);
            let mut own = device;
            if stride > 1 {
                let stride = self.number(stride as i64)?;
                own = tensor::divide(&mut self.builder(), own, stride)?;
            }
            if stride * axis.size < mesh.devices() {
                let size = self.number(axis.size as i64)?;
                own = tensor::remainder(&mut self.builder(), own, size)?;
            }
            own = self.times(own, minor)?;
            minor *= axis.size;
            sum = Some(match sum {
                Some(others) => tensor::add(&mut self.builder(), others, own)?,
                None => own,
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => self.number(0),
        }
    }
}
