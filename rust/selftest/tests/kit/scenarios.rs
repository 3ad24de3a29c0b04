//! Every scenario of the kit.

use connector_testkit::scenario::all;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_ends_as_it_must() {
    let groups = all().unwrap();
    let scenarios = groups.into_iter().flat_map(|group| {
        let name = group.group;
        group.scenarios.into_iter().map(move |scenario| (name.clone(), scenario))
    });
    crate::run("the kit", scenarios.collect()).await;
}
