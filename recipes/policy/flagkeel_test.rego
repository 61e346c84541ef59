# opa test recipes/policy
package main_test

import rego.v1

import data.main

change(environment, action, reason, most) := {
	"id": concat("@", ["flag/pay", environment]),
	"environment": environment,
	"action": action,
	"reason": reason,
	"impact": [{"flag": "pay", "traffic": {"atLeast": 0, "atMost": most}}],
}

test_a_small_step_passes if {
	count(main.deny) == 0 with input as {"changes": [change("production", "update", "commit", 20)]}
}

test_a_large_step_in_production_is_refused if {
	texts := main.deny with input as {"changes": [change("production", "update", "commit", 60)]}
	texts == {"flag/pay@production gives 60 % of the users another treatment: take smaller steps, or a ramp"}
}

test_a_large_step_in_staging_passes if {
	count(main.deny) == 0 with input as {"changes": [change("staging", "update", "commit", 60)]}
}

test_a_kill_passes if {
	count(main.deny) == 0 with input as {"changes": [change("production", "update", "kill", 100)]}
}

test_a_deletion_stands_alone if {
	other := change("staging", "update", "commit", 5)
	gone := change("production", "delete", "prune", 0)
	count(main.deny) == 0 with input as {"changes": [gone]}
	count(main.deny) == 1 with input as {"changes": [gone, other]}
}

test_a_change_on_the_service_is_a_warning if {
	shown := {"id": "flag/pay@production", "path": "/defaultRule", "moved": true}
	count(main.warn) == 1 with input as {"changes": [], "shown": [shown]}
}
