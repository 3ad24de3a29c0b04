//! Counted repetition under the limits of llama.rn's parser, which refuses counts from 2,000 on and makes a rule of
//! every optional repetition.

use smol_str::SmolStr;

use super::chars::Ranges;
use super::rules::Rules;

/// What can be repeated: one element, never empty, never a group (the parser counts the rules in a group again for
/// each repetition).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Element {
    Name(SmolStr),
    Class(Ranges),
}

/// Up to this many repetitions are written as they are.
const PLAIN: u64 = 128;
/// Up to this many repetitions of a block.
const BLOCKS: u64 = 1_000;
/// The greatest block.
const BLOCK: u64 = 900;

/// Writes an element `least` to `most` times.
///
/// A larger count is written in blocks: `block{0,q} element{0,r}` takes every count from 0 to `q × size + r` when `r`
/// is at least `size - 1`. Two or three positions are live at a time, whatever the count.
pub(super) fn write(rules: &mut Rules, element: &Element, least: u64, most: Option<u64>) {
    match most {
        Some(most) if most <= PLAIN => plain(rules, element, least, Some(most)),
        None if least <= PLAIN => plain(rules, element, least, None),
        Some(most) => {
            exactly(rules, element, least, PLAIN);
            at_most(rules, element, most.saturating_sub(least), PLAIN);
        }
        None => {
            exactly(rules, element, least, PLAIN);
            plain(rules, element, 0, None);
        }
    }
}

fn plain(rules: &mut Rules, element: &Element, least: u64, most: Option<u64>) {
    // `{5,2}` would make the parser count below zero.
    if most.is_none_or(|most| most > 0 && least <= most) {
        rules.writer.separate();
        rules.element(element);
        rules.writer.times(least, most);
    }
}

fn exactly(rules: &mut Rules, element: &Element, count: u64, limit: u64) {
    if count <= limit {
        return plain(rules, element, count, Some(count));
    }
    let size = count.isqrt().min(BLOCK);
    let block = rules.block(element, size);
    exactly(rules, &block, count / size, BLOCKS);
    plain(rules, element, count % size, Some(count % size));
}

fn at_most(rules: &mut Rules, element: &Element, count: u64, limit: u64) {
    if count <= limit {
        return plain(rules, element, 0, Some(count));
    }
    let size = block_size(count);
    let blocks = (count - (size - 1)) / size;
    let block = rules.block(element, size);
    at_most(rules, &block, blocks, BLOCKS);
    plain(rules, element, 0, Some(count - blocks * size));
}

/// A size near the square root with little left over: what is left over can be told in two ways.
fn block_size(count: u64) -> u64 {
    let root = count.isqrt().min(BLOCK);
    (root - root / 8..=root + root / 8).min_by_key(|size| (count - (size - 1)) % size).unwrap_or(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(least: u64, most: Option<u64>) -> String {
        let mut rules = Rules::new();
        rules.begin("root");
        rules.repeat(&Element::Name("x".into()), least, most);
        rules.end();
        rules.into_parts().0
    }

    /// The counts that a rule of counted elements takes.
    fn sums(rules: &[(&str, &str)], name: &str, up_to: usize) -> Vec<usize> {
        let Some((_, body)) = rules.iter().find(|(known, _)| *known == name) else { return vec![1] };
        let mut reached = vec![true];
        for element in body.split(' ').filter(|element| *element != "\"\"") {
            let (name, count) =
                element.find(['{', '*', '?', '+']).map_or((element, ""), |at| element.split_at(at));
            let (least, most) = match count {
                "" => (1, 1),
                "*" => (0, up_to),
                "+" => (1, up_to),
                "?" => (0, 1),
                count => {
                    let count = &count[1..count.len() - 1];
                    let (least, most) = count.split_once(',').unwrap_or((count, count));
                    (least.parse().unwrap(), if most.is_empty() { up_to } else { most.parse().unwrap() })
                }
            };
            assert!(least <= most && (most < 2_000 || most == up_to), "{element}");
            let one = sums(rules, name, up_to)[0];
            let mut next = vec![false; up_to + 1];
            for from in (0..reached.len()).filter(|at| reached[*at]) {
                for times in least..=most {
                    let Some(slot) = next.get_mut(from + times * one) else { break };
                    *slot = true;
                }
            }
            reached = next;
        }
        (0..reached.len()).filter(|at| reached[*at]).collect()
    }

    #[test]
    fn every_count_of_the_interval_is_taken_and_no_other() {
        for (least, most) in [
            (0, Some(0)),
            (0, Some(1)),
            (2, Some(2)),
            (0, Some(128)),
            (0, Some(129)),
            (1, Some(130)),
            (100, Some(300)),
            (1_999, Some(2_001)),
            (0, Some(1_000)),
            (0, Some(5_000)),
            (4_999, Some(5_000)),
            (7, None),
            (1_000, None),
        ] {
            let text = written(least, most);
            let bodies: Vec<(&str, &str)> =
                text.lines().filter_map(|line| line.split_once(" ::= ")).collect();
            let counts = sums(&bodies, "root", 5_200);
            let least = usize::try_from(least).unwrap();
            let most = most.map_or(5_200, |most| usize::try_from(most).unwrap());
            assert!(counts.iter().copied().eq(least..=most), "{least} {most}\n{text}");
        }
    }

    #[test]
    fn a_count_without_measure_is_still_a_few_short_rules() {
        for most in [65_536, 524_288, 1 << 40, u64::MAX] {
            let text = written(0, Some(most));
            assert!(text.len() < 500, "{text}");
        }
    }

    #[test]
    fn an_interval_that_is_empty_writes_no_count() {
        assert_eq!(written(5, Some(2)), "root ::= \"\"\n");
    }
}
