/// The files of the client library for JavaScript in this folder.
package enum ClientFiles {
    /// The module that an app imports, and the modules that it imports, by name.
    package static let modules: [(name: String, bytes: [UInt8])] = [
        ("fieldmerge.js", PackageResources.fieldmerge_js),
        ("fieldmerge-worker.js", PackageResources.fieldmerge_worker_js),
        ("count.js", PackageResources.count_js), ("deciding.js", PackageResources.deciding_js),
        ("decisions.js", PackageResources.decisions_js),
        ("download.js", PackageResources.download_js), ("drafts.js", PackageResources.drafts_js),
        ("editing.js", PackageResources.editing_js), ("engine.js", PackageResources.engine_js),
        ("errors.js", PackageResources.errors_js), ("events.js", PackageResources.events_js),
        ("exchange.js", PackageResources.exchange_js),
        ("follow.js", PackageResources.follow_js), ("following.js", PackageResources.following_js),
        ("form.js", PackageResources.form_js),
        ("history.js", PackageResources.history_js),
        ("indexeddb.js", PackageResources.indexeddb_js), ("indexes.js", PackageResources.indexes_js),
        ("inputs.js", PackageResources.inputs_js),
        ("json.js", PackageResources.json_js), ("keep.js", PackageResources.keep_js),
        ("keys.js", PackageResources.keys_js),
        ("large.js", PackageResources.large_js),
        ("layers.js", PackageResources.layers_js), ("leader.js", PackageResources.leader_js),
        ("lines.js", PackageResources.lines_js),
        ("lists.js", PackageResources.lists_js), ("live.js", PackageResources.live_js),
        ("local.js", PackageResources.local_js),
        ("memory.js", PackageResources.memory_js), ("network.js", PackageResources.network_js),
        ("query.js", PackageResources.query_js), ("ranges.js", PackageResources.ranges_js),
        ("refused.js", PackageResources.refused_js), ("regroup.js", PackageResources.regroup_js),
        ("remote.js", PackageResources.remote_js),
        ("renaming.js", PackageResources.renaming_js), ("rules.js", PackageResources.rules_js),
        ("scheduler.js", PackageResources.scheduler_js),
        ("sending.js", PackageResources.sending_js),
        ("signout.js", PackageResources.signout_js), ("snapshot.js", PackageResources.snapshot_js),
        ("state.js", PackageResources.state_js),
        ("store.js", PackageResources.store_js), ("support.js", PackageResources.support_js),
        ("told.js", PackageResources.told_js), ("upgrade.js", PackageResources.upgrade_js),
        ("values.js", PackageResources.values_js),
        ("waits.js", PackageResources.waits_js), ("watching.js", PackageResources.watching_js),
        ("work.js", PackageResources.work_js),
    ]

    /// The types of `fieldmerge.js`, for editors and compilers.
    package static let declarations: (name: String, bytes: [UInt8]) =
        ("fieldmerge.d.ts", PackageResources.fieldmerge_d_ts)
}
