//! Regions and blocks.

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_ir::{BlockId, MAX_REGION_DEPTH, Module, OpId, Type};

use super::{Read, Reader, Reported};

/// The regions of an op that does not exist yet: the blocks of each.
#[derive(Default)]
pub(super) struct Regions(Vec<Vec<BlockId>>);

impl Regions {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, blocks: Vec<BlockId>) {
        self.0.push(blocks);
    }

    /// Gives the blocks to the op's regions.
    pub(super) fn attach(self, module: &mut Module, op: OpId) {
        for (index, blocks) in self.0.into_iter().enumerate() {
            let region = module.region(op, index);
            for block in blocks {
                module.attach_block(region, block);
            }
        }
    }
}

/// An argument of a block, as it is written.
pub(super) struct Argument<'s> {
    pub(super) name: &'s str,
    pub(super) span: Span,
    pub(super) ty: Type,
}

impl<'s> Reader<'s> {
    /// `{ … }`: the blocks of a region. With `entry`, the first one has these arguments and no label.
    pub(super) fn region(&mut self, entry: Option<&[Argument<'s>]>) -> Read<Vec<BlockId>> {
        self.next();
        let open = self.at;
        self.expect(b'{')?;
        if self.depth == MAX_REGION_DEPTH {
            self.stopped = true;
            let message = format!("regions nest more than {MAX_REGION_DEPTH} deep");
            return self.fail(&codes::NESTING_TOO_DEEP, self.span(open, self.at), message);
        }
        self.depth += 1;
        let mark = self.scope_mark();
        let blocks = self.blocks(open, entry);
        self.scope_release(mark);
        self.depth -= 1;
        blocks
    }

    fn blocks(&mut self, open: usize, entry: Option<&[Argument<'s>]>) -> Read<Vec<BlockId>> {
        let mut blocks = Vec::new();
        if let Some(arguments) = entry {
            blocks.push(self.block(arguments));
        }
        loop {
            let next = self.next();
            if self.stopped {
                return Err(Reported);
            }
            match next {
                b'}' => {
                    self.at += 1;
                    return Ok(blocks);
                }
                b'^' => {
                    let block = self.label()?;
                    blocks.push(block);
                }
                _ if self.at >= self.aliases.end => {
                    let (found, span) = self.token();
                    let message = format!("expected `}}`, found {found}");
                    self.report(
                        Diagnostic::error(&codes::UNTERMINATED, span, message)
                            .secondary(self.span(open, open + 1), "to close this"),
                    );
                    self.stopped = true;
                    return Err(Reported);
                }
                _ => {
                    let block = match blocks.last() {
                        Some(&block) => block,
                        None => {
                            let block = self.block(&[]);
                            blocks.push(block);
                            block
                        }
                    };
                    self.statement(block);
                }
            }
        }
    }

    /// A block with these arguments.
    fn block(&mut self, arguments: &[Argument<'s>]) -> BlockId {
        let block = self.module.create_block();
        for argument in arguments {
            let value = self.module.append_argument(block, argument.ty);
            self.define_argument(argument.name, value, argument.span);
        }
        block
    }

    /// `^bb0(%x: type, …):`.
    fn label(&mut self) -> Read<BlockId> {
        self.name_after_sigil();
        let arguments = if self.next() == b'(' { self.arguments()? } else { Vec::new() };
        self.expect(b':')?;
        Ok(self.block(&arguments))
    }

    /// `(%x: type loc(…), …)`.
    pub(super) fn arguments(&mut self) -> Read<Vec<Argument<'s>>> {
        self.expect(b'(')?;
        let mut arguments = Vec::new();
        while !self.take(b')') {
            if !arguments.is_empty() {
                self.comma_or(")")?;
            }
            let (name, span) = self.argument_name()?;
            self.expect(b':')?;
            let ty = self.ty()?;
            self.optional_location()?;
            arguments.push(Argument { name, span, ty });
        }
        Ok(arguments)
    }

    /// `%x` where it is defined.
    pub(super) fn argument_name(&mut self) -> Read<(&'s str, Span)> {
        if self.next() != b'%' {
            return self.expected("a value (`%name`)");
        }
        let start = self.at;
        let name = self.name_after_sigil();
        Ok((name, self.span(start, self.at)))
    }
}
