//! Whose text a conversation has seen, and which flows a person has let through.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

/// For each conversation: the connectors whose text came back, and the ordered pairs that were confirmed.
///
/// A call to B after text of A came back needs a confirmation, once for each ordered pair and conversation,
/// unless B's grant lets A in: a steered model must not carry A's data to B unseen.
#[derive(Debug, Default)]
pub struct Flows {
    conversations: BTreeMap<SmolStr, Conversation>,
    /// What was seen in conversations that are no longer kept; every unknown conversation starts with it.
    forgotten: BTreeSet<SmolStr>,
}

#[derive(Debug, Default)]
struct Conversation {
    seen: BTreeSet<SmolStr>,
    confirmed: BTreeSet<(SmolStr, SmolStr)>,
}

/// Conversations that are kept apart; beyond, the first one by name is forgotten on the safe side.
const KEPT: usize = 1_024;

impl Flows {
    /// The connectors whose text would flow into a call of `to` unconfirmed. `lets_in` is the grant's word.
    pub fn unconfirmed(&self, conversation: &str, to: &str, lets_in: impl Fn(&str) -> bool) -> Vec<SmolStr> {
        let (seen, confirmed) = match self.conversations.get(conversation) {
            Some(conversation) => (&conversation.seen, Some(&conversation.confirmed)),
            None => (&self.forgotten, None),
        };
        let asks = |from: &&SmolStr| {
            let pair = ((*from).clone(), SmolStr::from(to));
            from.as_str() != to
                && !lets_in(from)
                && !confirmed.is_some_and(|confirmed| confirmed.contains(&pair))
        };
        seen.iter().filter(asks).cloned().collect()
    }

    /// A person confirmed a call of `to` that had these flows.
    pub fn confirm<'f>(&mut self, conversation: &str, from: impl IntoIterator<Item = &'f SmolStr>, to: &str) {
        let conversation = self.conversation(conversation);
        conversation.confirmed.extend(from.into_iter().map(|from| (from.clone(), to.into())));
    }

    /// Text of `from` came back into the conversation.
    pub fn returned(&mut self, conversation: &str, from: &str) {
        self.conversation(conversation).seen.insert(from.into());
    }

    fn conversation(&mut self, name: &str) -> &mut Conversation {
        if !self.conversations.contains_key(name) {
            if self.conversations.len() >= KEPT
                && let Some((_, forgotten)) = self.conversations.pop_first()
            {
                self.forgotten.extend(forgotten.seen);
            }
            let seen = self.forgotten.clone();
            self.conversations.insert(name.into(), Conversation { seen, confirmed: BTreeSet::new() });
        }
        self.conversations.entry(name.into()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_after_anothers_text_asks_once_for_each_ordered_pair() {
        let mut flows = Flows::default();
        let none = |_: &str| false;
        assert!(flows.unconfirmed("c", "b", none).is_empty(), "nothing came back yet");
        flows.returned("c", "a");
        assert_eq!(flows.unconfirmed("c", "b", none), ["a"]);
        assert!(flows.unconfirmed("c", "a", none).is_empty(), "its own text is its own");
        assert!(flows.unconfirmed("other", "b", none).is_empty(), "another conversation");
        assert!(flows.unconfirmed("c", "b", |from| from == "a").is_empty(), "the grant lets it in");
        flows.confirm("c", &["a".into()], "b");
        assert!(flows.unconfirmed("c", "b", none).is_empty());
        flows.returned("c", "b");
        assert_eq!(flows.unconfirmed("c", "a", none), ["b"], "the other direction is another pair");
    }

    #[test]
    fn forgetting_a_conversation_forgets_on_the_safe_side() {
        let mut flows = Flows::default();
        flows.returned("0", "a");
        for name in 1..=KEPT {
            flows.returned(&format!("x{name}"), "b");
        }
        assert_eq!(flows.conversations.len(), KEPT);
        assert_eq!(flows.unconfirmed("0", "c", |_| false), ["a"], "what was seen there still asks");
    }
}
