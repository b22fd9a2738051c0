//! Cost of validating a value, estimated before the validation.

use crate::plan::Plan;
use crate::size::{count_pieces, count_values};
use crate::subschema::{Index, Subschema};
use crate::visit::{Instance, Visit};
use serde_json::{Map, Value};
use treenail_schema::internal::ValidationLimits;

/// Backtracks of a pattern that count as one step.
const BACKTRACKS_PER_STEP: u64 = 8;

/// Values, or pieces of strings, that are compared in one step.
const COMPARISONS_PER_STEP: u64 = 16;

/// Names that are looked up in one step.
const LOOKUPS_PER_STEP: u64 = 4;

/// Maximum length of a list whose items are compared pairwise; the items of a longer one are hashed.
const MAX_PAIRWISE_ITEMS: usize = 15;

/// Cost of validating a value, within the limits: the maximum number of steps for describing all violations with their
/// locations.
#[derive(Clone, Copy, Debug)]
pub struct Cost(pub(crate) u64);

/// Counts the maximum number of steps that validating a value takes. Shortcuts of the actual validation are not considered.
/// Returns an error if the steps exceed `max_steps` or nest too deeply. The counting itself takes time in proportion to the
/// steps counted.
///
/// The limit is necessary because a schema of a few lines can require an astronomical number of steps: two choices at each
/// level of a value with a hundred levels suffice.
pub(crate) fn estimate_cost(
    plan: &Plan,
    value: &Value,
    limits: &ValidationLimits,
    max_steps: u64,
) -> Result<Cost, String> {
    let first = Visit {
        index: 0,
        instance: Instance::Value(value),
        depth: 1,
        path_bytes: 0,
        rescan_only: false,
    };
    let mut counter = StepCounter {
        limits,
        max_steps,
        steps: 0,
        report_steps: 0,
        pending: vec![first],
    };
    while let Some(visit) = counter.pending.pop() {
        let max_depth = limits.schema_depth;
        if visit.depth > max_depth {
            return Err(format!(
                "its schema would be applied to it more than {max_depth} levels deep"
            ));
        }
        counter.visit(&plan.subschemas[visit.index], visit)?;
    }
    Ok(Cost(counter.steps.max(counter.report_steps)))
}

struct StepCounter<'a> {
    limits: &'a ValidationLimits,
    max_steps: u64,
    steps: u64,
    /// Steps for describing the violations with their locations.
    report_steps: u64,
    pending: Vec<Visit<'a>>,
}

impl<'a> StepCounter<'a> {
    fn visit(&mut self, subschema: &Subschema, from: Visit<'a>) -> Result<(), String> {
        self.add_steps(1 + subschema.compared / COMPARISONS_PER_STEP)?;
        let report_steps = 1 + (from.path_bytes / 16) as u64;
        self.report_steps = self.report_steps.saturating_add(report_steps);
        let depth = from.depth + 1;
        let visit = Visit { depth, ..from };
        let full = Visit {
            rescan_only: false,
            ..visit
        };
        self.push_visits(&subschema.same_value, full)?;
        // The library evaluates the subschemas again to find out which members or items they cover.
        if from.rescan_only || subschema.uses_unevaluated {
            if !from.rescan_only {
                self.push_visits(&subschema.same_value, full)?;
            }
            let rescan = Visit {
                rescan_only: true,
                ..visit
            };
            self.push_visits(&subschema.same_value, rescan)?;
        }
        match from.instance {
            _ if from.rescan_only => self.count_rescan(subschema, visit),
            Instance::Name(text) => self.count_string(subschema, text),
            Instance::Value(Value::String(text)) => self.count_string(subschema, text),
            Instance::Value(Value::Array(items)) => self.count_items(subschema, items, visit),
            Instance::Value(Value::Object(_)) => self.count_members(subschema, visit),
            Instance::Value(_) => Ok(()),
        }
    }

    /// Counts the steps of finding the members or items that a subschema has evaluated.
    fn count_rescan(&mut self, subschema: &Subschema, visit: Visit<'a>) -> Result<(), String> {
        match visit.instance {
            Instance::Value(Value::Array(items)) => {
                self.add_steps(items.len() as u64)?;
                if subschema.contains || subschema.uses_unevaluated {
                    for item in items {
                        let inner = Visit {
                            instance: Instance::Value(item),
                            rescan_only: false,
                            ..visit
                        };
                        self.push_visits(&subschema.items, inner)?;
                    }
                }
            }
            Instance::Value(Value::Object(members)) => {
                self.add_steps(members.len() as u64)?;
                for (name, member) in members {
                    self.add_matches(subschema.name_pattern_steps, subschema, name)?;
                    if subschema.uses_unevaluated {
                        self.push_visits(&subschema.members, visit.of_member(name, member))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn count_string(&mut self, subschema: &Subschema, text: &str) -> Result<(), String> {
        if subschema.text_steps > 0 {
            let pieces = 1 + count_pieces(text);
            self.add_steps(subschema.text_steps.saturating_mul(pieces))?;
        }
        self.add_matches(subschema.text_pattern_steps, subschema, text)
    }

    fn count_items(
        &mut self,
        subschema: &Subschema,
        items: &'a [Value],
        visit: Visit<'a>,
    ) -> Result<(), String> {
        if subschema.unique_items {
            let times = if items.len() > MAX_PAIRWISE_ITEMS {
                2
            } else {
                MAX_PAIRWISE_ITEMS as u64 / 2
            };
            for item in items {
                self.add_steps(times.saturating_mul(count_values(item)))?;
            }
        }
        if subschema.items.is_empty() {
            return Ok(());
        }
        // `unevaluatedItems` applies `contains` a second time.
        let is_repeated = subschema.uses_unevaluated && subschema.contains;
        for item in items {
            let inner = visit.of_item(item);
            self.push_visits(&subschema.items, inner)?;
            if is_repeated {
                self.push_visits(&subschema.items, inner)?;
            }
        }
        Ok(())
    }

    fn count_members(&mut self, subschema: &Subschema, visit: Visit<'a>) -> Result<(), String> {
        let Instance::Value(Value::Object(members)) = visit.instance else {
            return Ok(());
        };
        self.add_steps(subschema.lookups.div_ceil(LOOKUPS_PER_STEP))?;
        if subschema.uses_unevaluated {
            self.add_steps(members.len() as u64)?;
        }
        if subschema.members.is_empty()
            && subschema.names.is_empty()
            && subschema.name_pattern_steps == 0
        {
            return self.count_known_members(subschema, members, visit);
        }
        for (name, member) in members {
            self.add_steps(1 + count_pieces(name))?;
            self.add_matches(subschema.name_pattern_steps, subschema, name)?;
            let instance = Instance::Name(name);
            self.push_visits(&subschema.names, Visit { instance, ..visit })?;
            let inner = visit.of_member(name, member);
            if let Some(index) = subschema.properties.get(&**name) {
                self.push_visits(&[*index], inner)?;
            }
            self.push_visits(&subschema.members, inner)?;
        }
        Ok(())
    }

    /// Counts the members where only known names matter. Iterates over the shorter of the members and the known names.
    fn count_known_members(
        &mut self,
        subschema: &Subschema,
        members: &'a Map<String, Value>,
        visit: Visit<'a>,
    ) -> Result<(), String> {
        if subschema.properties.len() <= members.len() {
            for (name, index) in &subschema.properties {
                if let Some(member) = members.get(&**name) {
                    self.push_visits(&[*index], visit.of_member(name, member))?;
                }
            }
            return Ok(());
        }
        self.add_steps((members.len() as u64).div_ceil(LOOKUPS_PER_STEP))?;
        for (name, member) in members {
            if let Some(index) = subschema.properties.get(&**name) {
                self.push_visits(&[*index], visit.of_member(name, member))?;
            }
        }
        Ok(())
    }

    fn push_visits(&mut self, indexes: &[Index], visit: Visit<'a>) -> Result<(), String> {
        self.add_steps(indexes.len() as u64)?;
        let visits = indexes.iter().map(|index| Visit {
            index: *index,
            ..visit
        });
        self.pending.extend(visits);
        Ok(())
    }

    /// Adds the steps of matching a string with patterns.
    fn add_matches(
        &mut self,
        pattern_steps: u64,
        subschema: &Subschema,
        text: &str,
    ) -> Result<(), String> {
        if pattern_steps == 0 {
            return Ok(());
        }
        let backtracking = if subschema.needs_backtracking {
            1 + self.limits.pattern_backtracks as u64 / BACKTRACKS_PER_STEP
        } else {
            1
        };
        let pieces = 1 + count_pieces(text);
        let steps = pattern_steps.saturating_mul(pieces);
        self.add_steps(steps.saturating_mul(backtracking))
    }

    fn add_steps(&mut self, steps: u64) -> Result<(), String> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= self.max_steps {
            return Ok(());
        }
        let max_steps = self.max_steps;
        Err(format!("validating it takes more than {max_steps} steps"))
    }
}
