//! The compiler works out what is constant while it compiles, where no meter runs: `"a" * 9999999`
//! would be in memory before the first instruction. So every constant repetition is estimated first;
//! and how deep blocks stand within each other.

use super::Fault;
use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt, UnaryOpKind};

/// The longest text or list that a constant may become, in bytes or entries.
const MOST: f64 = 16_384.0;

/// How many loops and `with` may stand within each other: a name is looked for in each of them.
const BLOCKS_MAX: usize = 20;

/// Stands for a number that is not told exactly; it repeats a text too often, whatever it is.
const UNTOLD: f64 = f64::INFINITY;

/// What a constant expression comes to.
#[derive(Clone, Copy)]
enum Constant {
    Number(f64),
    /// A text or a list, of about so many bytes or entries.
    Long(f64),
}

pub(super) fn estimate(tree: &Stmt<'_>) -> Result<(), Fault> {
    within(tree, 0)
}

fn within(tree: &Stmt<'_>, outer: usize) -> Result<(), Fault> {
    let span = match tree {
        Stmt::ForLoop(it) => Some(it.span()),
        Stmt::WithBlock(it) => Some(it.span()),
        _ => None,
    };
    let blocks = outer + usize::from(span.is_some());
    if let Some(span) = span.filter(|_| blocks > BLOCKS_MAX) {
        return Err(Fault::at(
            span.start_line,
            format!("more than {BLOCKS_MAX} loops and `with` within each other"),
        ));
    }
    if let Some(line) = of_another_template(tree) {
        return Err(Fault::at(
            line,
            "a template stands alone here: it cannot include, import or extend another, and has no blocks",
        ));
    }
    let (inner, expressions) = parts(tree);
    for expression in expressions {
        constant(expression)?;
    }
    let mut inner = inner.into_iter().flatten();
    inner.try_for_each(|part| within(part, blocks))
}

/// The line of a statement that needs another template.
fn of_another_template(stmt: &Stmt<'_>) -> Option<u16> {
    let span = match stmt {
        Stmt::Block(it) => it.span(),
        Stmt::Import(it) => it.span(),
        Stmt::FromImport(it) => it.span(),
        Stmt::Extends(it) => it.span(),
        Stmt::Include(it) => it.span(),
        _ => return None,
    };
    Some(span.start_line)
}

/// The statements and the expressions that stand directly in a statement.
fn parts<'t, 's>(stmt: &'t Stmt<'s>) -> (Vec<&'t [Stmt<'s>]>, Vec<&'t Expr<'s>>) {
    let (mut inner, mut expressions): (Vec<&[Stmt<'_>]>, Vec<&Expr<'_>>) = (vec![], vec![]);
    match stmt {
        Stmt::Template(it) => inner.push(&it.children),
        Stmt::EmitExpr(it) => expressions.push(&it.expr),
        Stmt::EmitRaw(_)
        | Stmt::Block(_)
        | Stmt::Import(_)
        | Stmt::FromImport(_)
        | Stmt::Extends(_)
        | Stmt::Include(_) => {}
        Stmt::ForLoop(it) => {
            expressions.push(&it.iter);
            expressions.extend(&it.filter_expr);
            inner.extend([&*it.body, &*it.else_body]);
        }
        Stmt::IfCond(it) => {
            expressions.push(&it.expr);
            inner.extend([&*it.true_body, &*it.false_body]);
        }
        Stmt::WithBlock(it) => {
            expressions.extend(it.assignments.iter().map(|(_, value)| value));
            inner.push(&it.body);
        }
        Stmt::Set(it) => expressions.push(&it.expr),
        Stmt::SetBlock(it) => {
            expressions.extend(&it.filter);
            inner.push(&it.body);
        }
        Stmt::AutoEscape(it) => {
            expressions.push(&it.enabled);
            inner.push(&it.body);
        }
        Stmt::FilterBlock(it) => {
            expressions.push(&it.filter);
            inner.push(&it.body);
        }
        Stmt::Macro(it) => {
            expressions.extend(&it.defaults);
            inner.push(&it.body);
        }
        Stmt::CallBlock(it) => {
            expressions.push(&it.call.expr);
            expressions.extend(it.call.args.iter().map(argument));
            expressions.extend(&it.macro_decl.defaults);
            inner.push(&it.macro_decl.body);
        }
        Stmt::Do(it) => {
            expressions.push(&it.call.expr);
            expressions.extend(it.call.args.iter().map(argument));
        }
    }
    (inner, expressions)
}

fn argument<'t, 's>(argument: &'t CallArg<'s>) -> &'t Expr<'s> {
    match argument {
        CallArg::Pos(value)
        | CallArg::Kwarg(_, value)
        | CallArg::PosSplat(value)
        | CallArg::KwargSplat(value) => value,
    }
}

/// Looks through an expression, and says what it comes to where it is constant.
fn constant(expression: &Expr<'_>) -> Result<Option<Constant>, Fault> {
    let all = |these: &mut dyn Iterator<Item = &Expr<'_>>| -> Result<Option<Constant>, Fault> {
        let mut sum = Some(0.0);
        for expression in these {
            let one = match constant(expression)? {
                Some(Constant::Number(_)) => Some(1.0),
                Some(Constant::Long(size)) => Some(1.0 + size),
                None => None,
            };
            sum = sum.zip(one).map(|(sum, one)| sum + one);
        }
        Ok(sum.map(Constant::Long))
    };
    Ok(match expression {
        Expr::Var(_) => None,
        Expr::Const(it) => Some(match it.value.as_str() {
            Some(text) => Constant::Long(bytes(text.len())),
            None => number(f64::try_from(it.value.clone()).unwrap_or(UNTOLD)),
        }),
        Expr::List(it) => all(&mut it.items.iter())?,
        Expr::Tuple(it) => all(&mut it.items.iter())?,
        Expr::Map(it) => all(&mut it.keys.iter().chain(&it.values))?,
        Expr::UnaryOp(it) => match (constant(&it.expr)?, &it.op) {
            (Some(Constant::Number(told)), UnaryOpKind::Neg) if told < UNTOLD => number(-told),
            (Some(_), _) => Constant::Number(UNTOLD),
            (None, _) => return Ok(None),
        }
        .into(),
        Expr::BinOp(it) => {
            let both = constant(&it.left)?.zip(constant(&it.right)?);
            match both {
                Some((left, right)) => {
                    Some(fold(it.op, left, right, expression.span().start_line)?)
                }
                None => None,
            }
        }
        Expr::Compare(it) => {
            constant(&it.expr)?;
            for operand in &it.ops {
                constant(&operand.expr)?;
            }
            Some(Constant::Number(UNTOLD))
        }
        other => {
            all(&mut other_parts(other).into_iter())?;
            None
        }
    })
}

/// The parts of an expression that the compiler never works out as a whole.
fn other_parts<'t, 's>(expression: &'t Expr<'s>) -> Vec<&'t Expr<'s>> {
    match expression {
        Expr::Slice(it) => std::iter::once(&it.expr)
            .chain(&it.start)
            .chain(&it.stop)
            .chain(&it.step)
            .collect(),
        Expr::IfExpr(it) => [&it.test_expr, &it.true_expr]
            .into_iter()
            .chain(&it.false_expr)
            .collect(),
        Expr::Filter(it) => it.expr.iter().chain(it.args.iter().map(argument)).collect(),
        Expr::Test(it) => std::iter::once(&it.expr)
            .chain(it.args.iter().map(argument))
            .collect(),
        Expr::GetAttr(it) => vec![&it.expr],
        Expr::GetItem(it) => vec![&it.expr, &it.subscript_expr],
        Expr::Call(it) => std::iter::once(&it.expr)
            .chain(it.args.iter().map(argument))
            .collect(),
        _ => vec![],
    }
}

fn fold(op: BinOpKind, left: Constant, right: Constant, line: u16) -> Result<Constant, Fault> {
    use Constant::{Long, Number};
    let folded = match (op, left, right) {
        (BinOpKind::Mul, Long(size), Number(times))
        | (BinOpKind::Mul, Number(times), Long(size)) => Long(size.max(1.0) * times.max(0.0)),
        (BinOpKind::Add, Number(left), Number(right)) => number(left + right),
        (BinOpKind::Sub, Number(left), Number(right)) => number(left - right),
        (BinOpKind::Mul, Number(left), Number(right)) => number(left * right),
        (BinOpKind::Pow, Number(left), Number(right)) => number(left.powf(right)),
        (_, Number(_), Number(_)) => Number(UNTOLD),
        (BinOpKind::Add | BinOpKind::Concat, left, right) => Long(size(left) + size(right)),
        // They come to either side.
        (BinOpKind::ScAnd | BinOpKind::ScOr, left, right) => Long(size(left).max(size(right))),
        _ => Number(UNTOLD),
    };
    match folded {
        Long(size) if size.is_nan() || size > MOST => {
            Err(Fault::at(line, "a text or list is repeated too often here"))
        }
        folded => Ok(folded),
    }
}

/// A number as far as it is told exactly: beyond that, a difference of two could be anything.
fn number(told: f64) -> Constant {
    let exact = told.abs() <= 9_007_199_254_740_992.0;
    Constant::Number(if exact { told } else { UNTOLD })
}

fn size(constant: Constant) -> f64 {
    match constant {
        Constant::Number(_) => 40.0,
        Constant::Long(size) => size,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a source has at most 256 KiB")]
fn bytes(length: usize) -> f64 {
    length as f64
}
