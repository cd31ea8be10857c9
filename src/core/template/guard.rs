//! The compiled instructions, rewritten: a list of known ones passes, and those that can grow a
//! value or walk through one go through a function that pays first. What is not on the list, a
//! template cannot do.

use super::{Fault, filters, operators};
use minijinja::machinery::{Instruction, Instructions};
use std::collections::BTreeSet;

/// A filter without a slot in the machine's cache, which is small and the template's own.
const NO_SLOT: u8 = u8::MAX;
/// A loop that may call itself; its jumps cross the frames of macros.
const RECURSIVE: u8 = 2;
const MOST_ARGUMENTS: usize = 250;

/// The instructions that run in place of those that were compiled.
pub(super) fn metered<'s>(
    compiled: &Instructions<'s>,
    names: &[&str],
) -> Result<Instructions<'s>, Fault> {
    let own = names_of_its_own(compiled);
    let mut rewritten = Instructions::new(compiled.name(), compiled.source());
    let mut places = Vec::new();
    for at in 0.. {
        let Some(instruction) = compiled.get(at) else {
            break;
        };
        let line = compiled.get_line(at).unwrap_or(1);
        check_names(instruction, &own, names).map_err(|message| Fault::at(line, message))?;
        let instead = replaced(instruction).map_err(|message| Fault::at(line, message))?;
        places.push(None);
        for instruction in instead {
            let place = match compiled.get_span(at) {
                Some(span) => rewritten.add_with_span(instruction, span),
                None => {
                    rewritten.add_with_line(instruction, u16::try_from(line).unwrap_or(u16::MAX))
                }
            };
            if let Some(first @ None) = places.last_mut() {
                *first = Some(place);
            }
        }
    }
    let end = count(&rewritten);
    for at in 0..end {
        let Some(
            Instruction::Iterate(target)
            | Instruction::Jump(target)
            | Instruction::JumpIfFalse(target)
            | Instruction::JumpIfFalseOrPop(target)
            | Instruction::JumpIfTrueOrPop(target)
            | Instruction::BuildMacro(_, target, _),
        ) = rewritten.get_mut(at)
        else {
            continue;
        };
        *target = places
            .get(*target as usize)
            .copied()
            .flatten()
            .unwrap_or(end);
    }
    Ok(rewritten)
}

fn count(instructions: &Instructions<'_>) -> u32 {
    (0..u32::MAX)
        .find(|at| instructions.get(*at).is_none())
        .unwrap_or(0)
}

/// The names that a template gives to values of its own.
pub(super) fn names_of_its_own<'s>(compiled: &Instructions<'s>) -> BTreeSet<&'s str> {
    (0..u32::MAX)
        .map_while(|at| compiled.get(at))
        .filter_map(|instruction| match instruction {
            Instruction::StoreLocal(name) => Some(*name),
            _ => None,
        })
        .chain(["loop", "caller"])
        .collect()
}

fn check_names(
    instruction: &Instruction<'_>,
    own: &BTreeSet<&str>,
    names: &[&str],
) -> Result<(), String> {
    match instruction {
        Instruction::Lookup(name)
            if !own.contains(name) && !names.contains(name) && !filters::is_function(name) =>
        {
            Err(format!(
                "`{name}` is not known here; there is {}",
                names.join(", ")
            ))
        }
        Instruction::CallFunction(name, _)
            if !own.contains(name) && !filters::is_function(name) =>
        {
            Err(format!("there is no function `{name}`"))
        }
        Instruction::ApplyFilter(name, ..) if !filters::is_filter(&bare(name)) => {
            Err(format!("there is no filter `{}`", bare(name)))
        }
        Instruction::PerformTest(name, ..) if !filters::is_test(&bare(name)) => {
            Err(format!("there is no test `{}`", bare(name)))
        }
        _ => Ok(()),
    }
}

/// The language allows space within a dotted name.
fn bare(name: &str) -> String {
    name.split_whitespace().collect()
}

/// What runs in an instruction's place.
fn replaced<'s>(instruction: &Instruction<'s>) -> Result<Vec<Instruction<'s>>, String> {
    use Instruction as I;
    let metered = |name, arguments| I::ApplyFilter(name, Some(arguments), NO_SLOT);
    let same = || Ok(vec![instruction.clone()]);
    match instruction {
        I::EmitRaw(text) => Ok(vec![
            I::LoadConst(minijinja::Value::from_safe_string((*text).to_owned())),
            I::Emit,
        ]),
        I::StringConcat => Ok(vec![metered(operators::CONCAT, 2)]),
        I::Add => Ok(vec![metered(operators::ADD, 2)]),
        I::Sub => Ok(vec![metered(operators::SUB, 2)]),
        I::Mul => Ok(vec![metered(operators::MUL, 2)]),
        I::Div => Ok(vec![metered(operators::DIV, 2)]),
        I::IntDiv => Ok(vec![metered(operators::FLOOR_DIV, 2)]),
        I::Rem => Ok(vec![metered(operators::REM, 2)]),
        I::Pow => Ok(vec![metered(operators::POW, 2)]),
        I::Neg => Ok(vec![metered(operators::NEG, 1)]),
        I::Eq => Ok(vec![metered(operators::EQ, 2)]),
        I::Ne => Ok(vec![metered(operators::NE, 2)]),
        I::Lt => Ok(vec![metered(operators::LT, 2)]),
        I::Lte => Ok(vec![metered(operators::LE, 2)]),
        I::Gt => Ok(vec![metered(operators::GT, 2)]),
        I::Gte => Ok(vec![metered(operators::GE, 2)]),
        I::In => Ok(vec![metered(operators::IN, 2)]),
        I::Slice => Ok(vec![metered(operators::SLICE, 4)]),
        I::GetItem => Ok(vec![metered(operators::ITEM, 2)]),
        I::BuildList(Some(entries)) | I::BuildTuple(Some(entries)) => {
            Ok(vec![metered(operators::LIST, arguments(*entries)?)])
        }
        I::BuildMap(pairs) => Ok(vec![metered(operators::MAP, arguments(*pairs * 2)?)]),
        I::BuildKwargs(pairs) => arguments(*pairs).and_then(|_| same()),
        // What is kept in a namespace is copied, so that nothing can come to hold itself.
        I::SetAttr(_) => Ok(vec![
            I::Swap,
            metered(operators::COPY, 1),
            I::Swap,
            instruction.clone(),
        ]),
        I::PushLoop(flags) if flags & RECURSIVE != 0 => {
            Err("a loop cannot call itself here; use a macro that does".to_owned())
        }
        I::PushLoop(_) => Ok(vec![metered(operators::ITERATE, 1), instruction.clone()]),
        I::ApplyFilter(_, Some(_), _)
        | I::PerformTest(_, Some(_), _)
        | I::CallFunction(_, Some(_)) => same(),
        I::CallMethod("cycle", Some(_)) => same(),
        I::CallMethod(name, _) => Err(format!(
            "values have no methods here: use a filter, such as `x|{name}`"
        )),
        I::StoreLocal(_)
        | I::Lookup(_)
        | I::GetAttr(_)
        | I::LoadConst(_)
        | I::BuildList(None)
        | I::UnpackList(_)
        | I::Not
        | I::Emit
        | I::PushWith
        | I::Iterate(_)
        | I::PushDidNotIterate
        | I::PopFrame
        | I::PopLoopFrame
        | I::Jump(_)
        | I::JumpIfFalse(_)
        | I::JumpIfFalseOrPop(_)
        | I::JumpIfTrueOrPop(_)
        | I::BeginCapture(_)
        | I::EndCapture
        | I::DupTop
        | I::DiscardTop
        | I::Swap
        | I::BuildMacro(..)
        | I::Return
        | I::IsUndefined
        | I::Enclose(_)
        | I::GetClosure => same(),
        I::PushAutoEscape | I::PopAutoEscape => {
            Err("how texts are escaped cannot be changed".to_owned())
        }
        I::CompareAndPreserve(_) => {
            Err("write `a < b and b < c` in place of `a < b < c`".to_owned())
        }
        I::FastRecurse => Err("a loop cannot call itself here; use a macro that does".to_owned()),
        I::MergeKwargs(_)
        | I::UnpackLists(_)
        | I::ApplyFilter(..)
        | I::PerformTest(..)
        | I::CallFunction(..) => Err("arguments cannot be unpacked with `*`".to_owned()),
        I::BuildTuple(None) | I::CallObject(_) => {
            Err("only functions and macros can be called, by their names".to_owned())
        }
        I::FastSuper | I::CallBlock(_) | I::LoadBlocks | I::Include(_) | I::ExportLocals => {
            Err("a template stands alone here: it has no blocks".to_owned())
        }
    }
}

fn arguments(number: usize) -> Result<u16, String> {
    u16::try_from(number)
        .ok()
        .filter(|number| usize::from(*number) <= MOST_ARGUMENTS)
        .ok_or_else(|| "this has too many entries".to_owned())
}
