//! The power goes off at every step of a scenario, and once more while the store is opened after it.

use super::scenario::{ACTS, Act, Told, open};
use super::simulated::{Loss, Simulated};
use crate::{Durability, Outcome};

/// Plays the scenario until the power goes off at a step; nothing when it came to its end before.
fn play(off: usize) -> (Simulated, Told, bool) {
    let files = Simulated::new();
    files.off_at(off);
    let mut told = Told::default();
    let played = open(&files, &told).and_then(|store| {
        for act in ACTS {
            told.act(&store, act)?;
        }
        let turned = store.audit().verify(None)?.dropped > 0 && !store.ledger().is_whole();
        assert!(turned, "the scenario fills both logs");
        Ok(())
    });
    (files, told, played.is_ok())
}

fn losses(seed: usize) -> Vec<Loss> {
    let seeds = (0..6).map(|at| (seed * 6 + at) as u64);
    let torn = seeds.clone().map(Loss::Torn);
    [Loss::All, Loss::None].into_iter().chain(torn).chain(seeds.map(Loss::Holes)).collect()
}

#[test]
fn a_loss_of_power_at_any_step_leaves_the_old_state_or_the_new_and_every_durable_line() {
    let mut steps = 0;
    loop {
        let (files, mut told, finished) = play(steps);
        for loss in losses(steps) {
            let holes = matches!(loss, Loss::Holes(_));
            let after = files.after(loss);
            let store =
                open(&after, &told).unwrap_or_else(|refusal| panic!("step {steps}, {loss:?}: {refusal}"));
            told.check(&store, &after, true, false, holes);
        }
        // The store goes on where it is, and what it then says holds as well.
        let after = files.after(Loss::All);
        let store = open(&after, &told).unwrap();
        told.state = Some((*store.state()).clone());
        told.tried = None;
        told.records.truncate(told.durable);
        let more =
            [Act::Commit(8), Act::Start(20), Act::End(20, Outcome::Sent), Act::Record(20, Durability::Now)];
        for act in more {
            told.act(&store, act).unwrap();
        }
        drop(store);
        let last = after.after(Loss::All);
        told.check(&open(&last, &told).unwrap(), &last, true, true, false);
        steps += 1;
        if finished {
            break;
        }
    }
    println!("{steps} steps, {} losses each", losses(0).len());
    assert!(steps > 140, "the scenario is long: {steps}");
}

#[test]
fn a_second_loss_of_power_while_the_store_is_opened_changes_nothing() {
    let mut openings = 0;
    for step in (0..200).step_by(3) {
        let (files, told, finished) = play(step);
        if finished {
            break;
        }
        for loss in losses(step).into_iter().step_by(3) {
            for second in 0.. {
                let again = files.after(loss);
                again.off_at(second);
                let opened = open(&again, &told).is_ok();
                let last = again.after(Loss::Torn(second as u64));
                let store = open(&last, &told)
                    .unwrap_or_else(|refusal| panic!("{step} {loss:?} {second}: {refusal}"));
                told.check(&store, &last, true, false, matches!(loss, Loss::Holes(_)));
                openings += 1;
                if opened {
                    break;
                }
            }
        }
    }
    println!("{openings} openings");
}
