//! Every step of a scenario fails once, or from there on: a full disk, an error of the device.

use std::io::ErrorKind;

use connector_core::Code;

use super::scenario::{ACTS, Act, Told, open};
use super::simulated::{Loss, Simulated};
use crate::{Durability, Outcome};

/// Plays the whole scenario, whatever fails; gives the codes of the failures.
fn play(files: &Simulated, told: &mut Told) -> Vec<Code> {
    let mut codes = Vec::new();
    let store = match open(files, told) {
        Ok(store) => store,
        Err(refusal) => return vec![refusal.code],
    };
    for act in ACTS {
        if let Err(refusal) = told.act(&store, act) {
            codes.push(refusal.code);
        }
    }
    codes
}

#[test]
fn a_step_that_fails_leaves_the_old_state_and_the_store_goes_on() {
    for (kind, code) in [(ErrorKind::StorageFull, Code::StoreFull), (ErrorKind::Other, Code::StoreIo)] {
        for step in 0.. {
            let (files, mut told) = (Simulated::new(), Told::default());
            files.fail(step..step + 1, kind);
            let codes = play(&files, &mut told);
            assert!(codes.iter().all(|found| *found == code), "step {step}: {codes:?}");
            assert!(codes.len() <= 1, "one failure is told once: {codes:?} at {step}");
            let torn = files.after(Loss::Torn(step as u64));
            for (after, power) in [(files.after(Loss::All), true), (torn, true), (files.copy(), false)] {
                told.check(&open(&after, &told).unwrap(), &after, power, true, false);
            }
            if files.steps() <= step {
                assert!(step > 140, "the scenario is long: {step}");
                break;
            }
        }
    }
}

/// Nothing comes after the failure that could mend what it left, and then the power is lost or the process ends.
#[test]
fn what_failed_last_did_not_happen() {
    for step in 0.. {
        let (files, mut told) = (Simulated::new(), Told::default());
        files.fail(step..step + 1, ErrorKind::StorageFull);
        let played =
            open(&files, &told).map(|store| ACTS.into_iter().try_for_each(|act| told.act(&store, act)));
        let losses = (0..4).map(|at| files.after(Loss::Torn((step * 4 + at) as u64)));
        let losses = losses.chain([files.after(Loss::All), files.after(Loss::None)]);
        for (after, power) in losses.map(|after| (after, true)).chain([(files.copy(), false)]) {
            told.check(&open(&after, &told).unwrap(), &after, power, true, false);
        }
        if played.is_ok_and(|played| played.is_ok()) && files.steps() <= step {
            break;
        }
    }
}

#[test]
fn a_disk_that_stays_full_costs_no_state_and_no_line_and_recovers() {
    for step in (0..).step_by(2) {
        let (files, mut told) = (Simulated::new(), Told::default());
        files.fail(step..usize::MAX, ErrorKind::StorageFull);
        let seen = {
            let store = open(&files, &told);
            if let Ok(store) = &store {
                for act in ACTS {
                    // An end that cannot be written is asked for again when there is space.
                    let _full = told.act(store, act);
                }
                let state = store.state();
                files.heal();
                for act in [
                    Act::Commit(8),
                    Act::Start(20),
                    Act::End(20, Outcome::Sent),
                    Act::Record(20, Durability::Now),
                ] {
                    told.act(store, act).unwrap_or_else(|refusal| panic!("{step}: {refusal}"));
                }
                assert!(store.state().counter() > state.counter());
            }
            files.heal();
            store.is_ok()
        };
        for (after, power) in [(files.after(Loss::All), true), (files.copy(), false)] {
            told.check(&open(&after, &told).unwrap(), &after, power, seen, false);
        }
        if step > files.steps() {
            break;
        }
    }
}

/// The disk is full for good, and then the power goes: what failed may have happened after all, and nothing else.
#[test]
fn a_loss_of_power_after_a_failure_leaves_the_old_state_or_the_new() {
    for step in 0..200 {
        let (files, mut told) = (Simulated::new(), Told::default());
        files.fail(step..usize::MAX, ErrorKind::StorageFull);
        let _codes =
            open(&files, &told).map(|store| ACTS.into_iter().try_for_each(|act| told.act(&store, act)));
        for loss in [Loss::All, Loss::None, Loss::Torn(step as u64), Loss::Torn(1000 + step as u64)] {
            let after = files.after(loss);
            told.check(&open(&after, &told).unwrap(), &after, true, false, false);
        }
    }
}
