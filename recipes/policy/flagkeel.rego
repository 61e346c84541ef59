# A policy over the plan of a review, for conftest or opa:
#
#   flagkeel review --forge none --json plan.json . && conftest test -p policy plan.json
#
# It judges only what the plan says. Change it as you like: members are those of schemas/plan.schema.json.
package main

import rego.v1

protected := {"production"}

# Nothing that is in use leaves production together with other changes.
deny contains text if {
	some change in input.changes
	change.action == "delete"
	change.environment in protected
	count(input.changes) > 1
	text := sprintf("%s is deleted beside other changes: give the deletion a pull request of its own", [change.id])
}

# In production at most a quarter of the users gets another treatment at once.
deny contains text if {
	some change in input.changes
	change.environment in protected
	not change.reason in {"kill", "restore"}
	some flag in change.impact
	flag.traffic.atMost > 25
	text := sprintf("%s gives %v %% of the users another treatment: take smaller steps, or a ramp", [change.id, flag.traffic.atMost])
}

# A change that the service moved meanwhile is looked at by people.
warn contains text if {
	some field in input.shown
	field.moved
	text := sprintf("%s was changed on the service too: %s", [field.id, field.path])
}
