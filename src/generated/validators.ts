// @ts-nocheck
/* Generated from schemas/ by `npm run generate`; do not edit. */
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
"use strict";
export const config = validate20;
const schema31 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:config:1","title":"ConfigSpec","description":"flagkeel.yaml: which workspace, which environments, which policies.","type":"object","additionalProperties":false,"required":["workspace","environments"],"properties":{"workspace":{"description":"Name or id of the workspace.","type":"string","minLength":1},"environments":{"description":"Environments by name or id. The order is the order of application, the most protected last.","type":"object","minProperties":1,"additionalProperties":{"title":"EnvironmentConfigSpec","description":"Policies of one environment; {} for none.","type":"object","additionalProperties":false,"properties":{"protected":{"description":"Whether the environment is guarded more strictly. Default: the service's own `production`.","type":"boolean"},"onDrift":{"description":"What happens to a field that changed outside git while git did not: revert (default) or report (default in a protected environment).","$ref":"#/$defs/onDrift"},"onConflict":{"description":"What happens to a field that changed outside git and in git: apply (default) or hold (default in a protected environment).","enum":["apply","hold"]},"onLiveKill":{"description":"What happens to a live kill of a flag whose spec says `killed: false`: keep (default) or revert.","enum":["keep","revert"]},"guards":{"description":"Bounds of what one run may take away.","$ref":"#/$defs/guards"},"windows":{"description":"Names of the windows in which changes may go; kills and restores pass at any time. Default: at any time.","type":"array","minItems":1,"items":{"type":"string","minLength":1}}}}},"checks":{"description":"What has to be right before a step of a ramp, by name; a ramp says under `check` which of them it asks.","type":"object","additionalProperties":{"title":"CheckSpec","description":"Passed while `url` is answered by 2xx and with the value that is expected, or while the query of a Prometheus has such a value.","type":"object","additionalProperties":false,"properties":{"url":{"description":"What is asked with GET; no redirect is followed.","type":"string","minLength":1},"value":{"description":"With `url`: JSON Pointer to the value in its answer.","type":"string","pattern":"^(/[^/]+)+$","x-expected":"a JSON Pointer such as /budget/left"},"prometheus":{"description":"Address of a Prometheus, without /api/v1.","type":"string","minLength":1},"query":{"description":"With `prometheus`: PromQL that answers with one number.","type":"string","minLength":1},"equals":{"description":"What the value has to be.","x-expected":"a text, a number, true or false","type":["string","number","boolean"]},"atMost":{"description":"The most that the value may be.","type":"number"},"atLeast":{"description":"The least that the value may be.","type":"number"},"timeout":{"description":"How long its answer may take, 1s to 30s. Default: 5s.","type":"string","pattern":"^([1-9]|[12][0-9]|30)s$","x-expected":"seconds, from 1s to 30s"}}}},"windows":{"description":"Hours in which changes may go, by name; an environment names those that hold for it.","type":"object","additionalProperties":{"title":"WindowSpec","description":"Open while the clock on the wall of the zone shows a time from `from` up to, and without, `to`.","type":"object","additionalProperties":false,"required":["from","to","zone"],"properties":{"days":{"description":"Days on which it opens. Default: every day.","type":"array","minItems":1,"items":{"enum":["mon","tue","wed","thu","fri","sat","sun"]}},"from":{"description":"When it opens, HH:MM.","type":"string","pattern":"^([01][0-9]|2[0-3]):[0-5][0-9]$","x-expected":"a time such as 09:00"},"to":{"description":"When it closes, HH:MM up to 24:00. Earlier than `from`: on the next day.","type":"string","pattern":"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$","x-expected":"a time such as 17:00, up to 24:00"},"zone":{"description":"Time zone by its name, for example Europe/Madrid or UTC.","type":"string","minLength":1}}}},"freezes":{"description":"Times in which nothing may be changed but kills and what takes them back, by name. They beat windows.","type":"object","additionalProperties":{"title":"FreezeSpec","description":"From a time to a time.","type":"object","additionalProperties":false,"required":["from","to"],"properties":{"from":{"description":"A day (from its beginning), a time (2026-11-24T09:00) or a time with its offset (2026-11-24T09:00+01:00).","type":"string","minLength":1},"to":{"description":"A day (up to its end), a time or a time with its offset.","type":"string","minLength":1},"zone":{"description":"Time zone of days and of times without an offset.","type":"string","minLength":1},"environments":{"description":"Environments for which it holds, as `environments` names them. Default: all.","type":"array","minItems":1,"items":{"type":"string","minLength":1}},"reason":{"description":"Why, for those who have to wait.","type":"string","minLength":1}}}},"service":{"description":"Where the administration service is.","type":"object","additionalProperties":false,"properties":{"url":{"description":"Address of the service; a proposal only, the operator has to allow it.","type":"string","minLength":1}}},"defaults":{"description":"What specs need not repeat.","type":"object","additionalProperties":false,"properties":{"trafficType":{"description":"Traffic type of flags, segments and identities that name none.","type":"string","minLength":1}}},"conditions":{"description":"Conditions that rules of many flags share, by name: a rule names them in `use`. One may use others.","type":"object","additionalProperties":{"$ref":"urn:flagkeel:schema:flag:1#/$defs/conditions"}},"references":{"description":"Objects that live elsewhere: rules may name them; they are never written and never pruned.","type":"object","additionalProperties":false,"properties":{"segments":{"description":"Names of segments.","type":"array","items":{"type":"string","minLength":1}},"flags":{"description":"Names of flags.","type":"array","items":{"type":"string","minLength":1}}}},"prune":{"description":"Delete what this repository used to declare and no longer does. Default false.","type":"boolean"},"onRemove":{"description":"What becomes of a flag that is pruned: delete (default), or archive, which takes it away with its definitions and keeps them on the service. Segments are deleted in any case, and so is a definition whose flag stays.","enum":["delete","archive"]},"tombstone":{"title":"TombstoneSpec","description":"Delete in two steps: what left the specs is marked by the first run with pruning that sees it, and deleted by one after the cool-down. What comes back meanwhile is marked no more.","type":"object","additionalProperties":false,"required":["coolDown"],"properties":{"coolDown":{"description":"Time between the mark and the deletion: minutes, hours or days, such as 90m, 12h, 7d.","type":"string","pattern":"^[1-9][0-9]{0,4}[mhd]$"}}},"onDrift":{"description":"What happens to a field that changed outside git while git did not: revert (default) or report (default in a protected environment).","$ref":"#/$defs/onDrift"},"onConflict":{"description":"What happens to a field that changed outside git and in git: apply (default) or hold (default in a protected environment).","enum":["apply","hold"]},"onLiveKill":{"description":"What happens to a live kill of a flag whose spec says `killed: false`: keep (default) or revert.","enum":["keep","revert"]},"guards":{"description":"Bounds of what one run may take away.","$ref":"#/$defs/guards"},"suspend":{"description":"true: plan and report, write nothing (kills excepted). Default false.","type":"boolean"},"lint":{"title":"LintSpec","description":"What `validate` finds fault with although it is right: levels of rules, and rules of the house.","type":"object","additionalProperties":false,"properties":{"levels":{"description":"Level by rule; a rule that is not named has its own.","type":"object","additionalProperties":false,"properties":{"allow-unknown":{"description":"Level of the rule.","$ref":"#/$defs/level"},"allow-unused":{"description":"Level of the rule.","$ref":"#/$defs/level"},"allow-without-reason":{"description":"Level of the rule.","$ref":"#/$defs/level"},"code-ref-missing":{"description":"Level of the rule.","$ref":"#/$defs/level"},"confusable-names":{"description":"Level of the rule.","$ref":"#/$defs/level"},"contradictory-rule":{"description":"Level of the rule.","$ref":"#/$defs/level"},"default-not-safe":{"description":"Level of the rule.","$ref":"#/$defs/level"},"default-while-killed":{"description":"Level of the rule.","$ref":"#/$defs/level"},"duplicate-condition":{"description":"Level of the rule.","$ref":"#/$defs/level"},"duplicate-segment-keys":{"description":"Level of the rule.","$ref":"#/$defs/level"},"empty-segment":{"description":"Level of the rule.","$ref":"#/$defs/level"},"expired":{"description":"Level of the rule.","$ref":"#/$defs/level"},"expiry-too-late":{"description":"Level of the rule.","$ref":"#/$defs/level"},"full-rollout":{"description":"Level of the rule.","$ref":"#/$defs/level"},"invalid-regex":{"description":"Level of the rule.","$ref":"#/$defs/level"},"kill-review-passed":{"description":"Level of the rule.","$ref":"#/$defs/level"},"kill-too-old":{"description":"Level of the rule.","$ref":"#/$defs/level"},"many-inline-keys":{"description":"Level of the rule.","$ref":"#/$defs/level"},"middle-bucket-shift":{"description":"Level of the rule.","$ref":"#/$defs/level"},"name-pattern":{"description":"Level of the rule.","$ref":"#/$defs/level"},"name-reused":{"description":"Level of the rule.","$ref":"#/$defs/level"},"production-before-staging":{"description":"Level of the rule.","$ref":"#/$defs/level"},"ramp-finished":{"description":"Level of the rule.","$ref":"#/$defs/level"},"ramp-in-freeze":{"description":"Level of the rule.","$ref":"#/$defs/level"},"ramp-past":{"description":"Level of the rule.","$ref":"#/$defs/level"},"required-field":{"description":"Level of the rule.","$ref":"#/$defs/level"},"rule-like-default":{"description":"Level of the rule.","$ref":"#/$defs/level"},"stale-rollout":{"description":"Level of the rule.","$ref":"#/$defs/level"},"stray-file":{"description":"Level of the rule.","$ref":"#/$defs/level"},"trailing-space-key":{"description":"Level of the rule.","$ref":"#/$defs/level"},"treatments-reordered":{"description":"Level of the rule.","$ref":"#/$defs/level"},"unknown-word":{"description":"Level of the rule.","$ref":"#/$defs/level"},"unreachable-rule":{"description":"Level of the rule.","$ref":"#/$defs/level"},"unused-condition":{"description":"Level of the rule.","$ref":"#/$defs/level"},"unused-segment":{"description":"Level of the rule.","$ref":"#/$defs/level"},"use-between":{"description":"Level of the rule.","$ref":"#/$defs/level"},"zero-bucket":{"description":"Level of the rule.","$ref":"#/$defs/level"}}},"codeReferences":{"description":"Folders and files of this repository, from its top, in which the name of every flag has to stand: code, or a list of the names that code uses.","type":"array","minItems":1,"items":{"type":"string","minLength":1}},"killsOlderThan":{"description":"Days after which an entry of kills/ without `review` is too old. Default 30.","type":"integer","minimum":1},"names":{"description":"Regular expressions that whole names have to match.","type":"object","additionalProperties":false,"properties":{"flag":{"description":"Names of flags.","type":"string","minLength":1},"segment":{"description":"Names of segments.","type":"string","minLength":1},"treatment":{"description":"Names of treatments.","type":"string","minLength":1},"tag":{"description":"Tags of flags.","type":"string","minLength":1}}},"require":{"description":"Fields that every flag has to have; tests: a spec test where an environment is protected here.","type":"array","items":{"enum":["description","rolloutStatus","tags","owner","kind","expires","links","tests"]}},"words":{"description":"The only words that flags may use, by field.","type":"object","additionalProperties":false,"properties":{"owner":{"description":"Owners.","type":"array","items":{"type":"string","minLength":1}},"kind":{"description":"Kinds.","type":"array","items":{"type":"string","minLength":1}},"tags":{"description":"Tags.","type":"array","items":{"type":"string","minLength":1}},"rolloutStatus":{"description":"Rollout statuses.","type":"array","items":{"type":"string","minLength":1}}}},"expiresWithin":{"description":"Kind of flag → days from today within which its `expires` has to lie.","type":"object","additionalProperties":{"type":"integer","minimum":1}},"fullRollout":{"description":"Kinds of flags that may give everybody a treatment other than the default one in an environment that is protected here.","type":"array","items":{"type":"string","minLength":1}},"provenIn":{"description":"Environments one of which serves a treatment before an environment does that is protected here.","type":"array","minItems":1,"items":{"type":"string","minLength":1}},"reserveNames":{"description":"true: the name of a flag that was removed from this repository is not used again. Default false.","type":"boolean"},"staleAfter":{"description":"Days after which a flag is stale that gives everybody the same in every environment and that no commit touched. Kinds of `fullRollout` never are.","type":"integer","minimum":1}}},"state":{"description":"Where a run keeps what it must remember.","type":"object","additionalProperties":false,"properties":{"push":{"description":"auto: the state is fetched from `origin` where there is one and pushed where that is allowed. true: a run that cannot push it fails. false: it stays on this machine. Default auto.","enum":["auto",true,false]}}}},"$defs":{"onDrift":{"enum":["revert","report"],"x-removed":{"propose":"write \"report\", and let the drift workflow that flagkeel init writes open the pull request (flagkeel drift --adopt)"}},"level":{"title":"LintLevel","description":"error: exit 3. warning: said, and no more. off: not looked for.","enum":["error","warning","off"]},"guards":{"title":"GuardsSpec","description":"Bounds of what one run may take away. Percentages count from 10 objects (or keys) on.","type":"object","additionalProperties":false,"properties":{"maxDeletes":{"description":"Objects that one run may delete.","type":"integer","minimum":0},"maxDeletePercent":{"description":"Whole per cent of our objects in an environment that one run may delete.","type":"integer","minimum":0,"maximum":100},"maxKeyRemovals":{"description":"Keys that one run may remove from segments.","type":"integer","minimum":0},"maxKeyRemovalPercent":{"description":"Whole per cent of a segment's keys that one run may remove.","type":"integer","minimum":0,"maximum":100},"maxShift":{"description":"Whole per cent of the traffic that one flag may serve another treatment, or another configuration of it, after a run, at worst. Default 100. A flag's own `allow` lifts it for one change.","type":"integer","minimum":0,"maximum":100}}}}};
const schema32 = {"enum":["revert","report"],"x-removed":{"propose":"write \"report\", and let the drift workflow that flagkeel init writes open the pull request (flagkeel drift --adopt)"}};
const schema33 = {"title":"GuardsSpec","description":"Bounds of what one run may take away. Percentages count from 10 objects (or keys) on.","type":"object","additionalProperties":false,"properties":{"maxDeletes":{"description":"Objects that one run may delete.","type":"integer","minimum":0},"maxDeletePercent":{"description":"Whole per cent of our objects in an environment that one run may delete.","type":"integer","minimum":0,"maximum":100},"maxKeyRemovals":{"description":"Keys that one run may remove from segments.","type":"integer","minimum":0},"maxKeyRemovalPercent":{"description":"Whole per cent of a segment's keys that one run may remove.","type":"integer","minimum":0,"maximum":100},"maxShift":{"description":"Whole per cent of the traffic that one flag may serve another treatment, or another configuration of it, after a run, at worst. Default 100. A flag's own `allow` lifts it for one change.","type":"integer","minimum":0,"maximum":100}}};
const schema70 = {"title":"LintLevel","description":"error: exit 3. warning: said, and no more. off: not looked for.","enum":["error","warning","off"]};
const func1 = Object.prototype.hasOwnProperty;
const func2 = require("ajv/dist/runtime/ucs2length").default;
const pattern4 = new RegExp("^(/[^/]+)+$", "u");
const pattern5 = new RegExp("^([1-9]|[12][0-9]|30)s$", "u");
const pattern6 = new RegExp("^([01][0-9]|2[0-3]):[0-5][0-9]$", "u");
const pattern7 = new RegExp("^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$", "u");
const pattern9 = new RegExp("^[1-9][0-9]{0,4}[mhd]$", "u");
const schema40 = {"title":"Conditions","description":"A condition, or a list of conditions that must all hold.","x-expected":"a condition, or a list of conditions","anyOf":[{"$ref":"#/$defs/condition"},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/condition"}}]};
const schema41 = {"title":"ConditionSpec","description":"One matcher: exactly one of segment, flag, matcher, or a comparison of an attribute; or use, for conditions that have a name.","type":"object","minProperties":1,"additionalProperties":false,"properties":{"segment":{"description":"The key is in this segment, which is declared for the environment here or in references.","type":"string","minLength":1},"flag":{"description":"Another flag gives one of `treatments` (IN_SPLIT).","type":"string","minLength":1},"treatments":{"description":"Beside `flag`: treatments of that flag.","type":"array","minItems":1,"items":{"type":"string","minLength":1}},"attribute":{"description":"Attribute that is compared. With in, startsWith, endsWith and contains it may be left out: then the key is compared.","type":"string","minLength":1},"in":{"description":"Is one of these texts.","$ref":"#/$defs/texts"},"startsWith":{"description":"Starts with one of these texts.","$ref":"#/$defs/texts"},"endsWith":{"description":"Ends with one of these texts.","$ref":"#/$defs/texts"},"contains":{"description":"Contains one of these texts.","$ref":"#/$defs/texts"},"matches":{"description":"Matches this regular expression.","type":"string","minLength":1},"is":{"description":"Is true, or is false.","type":"boolean"},"equals":{"description":"Is this number.","type":"number"},"atLeast":{"description":"Is this number or more.","type":"number"},"atMost":{"description":"Is this number or less.","type":"number"},"between":{"description":"Is a number in this range.","$ref":"#/$defs/numberRange"},"on":{"description":"Is a moment of this day.","$ref":"#/$defs/date"},"onOrAfter":{"description":"Is this moment or later.","$ref":"#/$defs/date"},"onOrBefore":{"description":"Is this moment or earlier.","$ref":"#/$defs/date"},"betweenDates":{"description":"Is a moment in this range.","$ref":"#/$defs/dateRange"},"setEquals":{"description":"Is exactly this set.","$ref":"#/$defs/texts"},"setAnyOf":{"description":"Has at least one of these.","$ref":"#/$defs/texts"},"setAllOf":{"description":"Has all of these.","$ref":"#/$defs/texts"},"setPartOf":{"description":"Has nothing but these.","$ref":"#/$defs/texts"},"matcher":{"description":"A matcher as the service has it, passed through untouched.","type":"object","required":["type"],"additionalProperties":true,"properties":{"type":{"description":"The service's name of the matcher, for example EQUAL_TO_SEMVER.","type":"string","minLength":1}}},"use":{"description":"All conditions that flagkeel.yaml has under this name in `conditions`.","type":"string","minLength":1},"not":{"description":"true: matches where the condition does not.","type":"boolean"}}};
const schema42 = {"title":"Texts","description":"A text or a list of texts; a set, order means nothing.","x-expected":"a text or a list of texts","anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}}]};
const schema46 = {"title":"NumberRange","description":"Both ends are inside.","x-expected":"[from, to], or a mapping with from and to","anyOf":[{"type":"array","minItems":2,"maxItems":2,"items":{"type":"number"}},{"type":"object","additionalProperties":false,"required":["from","to"],"properties":{"from":{"description":"Smallest number that matches.","type":"number"},"to":{"description":"Largest number that matches.","type":"number"}}}]};
const schema47 = {"title":"DateText","description":"A day (2026-10-03, midnight UTC), a moment (2026-10-03T22:14:00Z), or milliseconds since the epoch.","x-expected":"a day, a moment with its zone, or milliseconds since the epoch","type":["string","integer"]};
const schema50 = {"title":"DateRange","description":"Both ends are inside.","x-expected":"[from, to], or a mapping with from and to","anyOf":[{"type":"array","minItems":2,"maxItems":2,"items":{"$ref":"#/$defs/date"}},{"type":"object","additionalProperties":false,"required":["from","to"],"properties":{"from":{"description":"First moment that matches.","$ref":"#/$defs/date"},"to":{"description":"Last moment that matches.","$ref":"#/$defs/date"}}}]};

function validate31(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate31.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(Array.isArray(data)){
if(data.length > 2){
const err0 = {instancePath,schemaPath:"#/anyOf/0/maxItems",keyword:"maxItems",params:{limit: 2},message:"must NOT have more than 2 items",schema:2,parentSchema:schema50.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.length < 2){
const err1 = {instancePath,schemaPath:"#/anyOf/0/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items",schema:2,parentSchema:schema50.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if((typeof data0 !== "string") && (!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0))))){
const err2 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/date/type",keyword:"type",params:{type: schema47.type},message:"must be string,integer",schema:schema47.type,parentSchema:schema47,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema50.anyOf[0].type,parentSchema:schema50.anyOf[0],data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var items0 = true;
}
const _errs6 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.from === undefined){
const err4 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: "from"},message:"must have required property '"+"from"+"'",schema:schema50.anyOf[1].required,parentSchema:schema50.anyOf[1],data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data.to === undefined){
const err5 = {instancePath,schemaPath:"#/anyOf/1/required",keyword:"required",params:{missingProperty: "to"},message:"must have required property '"+"to"+"'",schema:schema50.anyOf[1].required,parentSchema:schema50.anyOf[1],data};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "from") || (key0 === "to"))){
const err6 = {instancePath,schemaPath:"#/anyOf/1/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema50.anyOf[1],data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.from !== undefined){
let data1 = data.from;
if((typeof data1 !== "string") && (!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1))))){
const err7 = {instancePath:instancePath+"/from",schemaPath:"#/$defs/date/type",keyword:"type",params:{type: schema47.type},message:"must be string,integer",schema:schema47.type,parentSchema:schema47,data:data1};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.to !== undefined){
let data2 = data.to;
if((typeof data2 !== "string") && (!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2))))){
const err8 = {instancePath:instancePath+"/to",schemaPath:"#/$defs/date/type",keyword:"type",params:{type: schema47.type},message:"must be string,integer",schema:schema47.type,parentSchema:schema47,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema50.anyOf[1].type,parentSchema:schema50.anyOf[1],data};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
var _valid0 = _errs6 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
if(!valid0){
const err10 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema50.anyOf,parentSchema:schema50,data};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate31.errors = vErrors;
evaluated0.props = props0;
evaluated0.items = items0;
return errors === 0;
}
validate31.evaluated = {"dynamicProps":true,"dynamicItems":true};


function validate30(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate30.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema41.properties, key0))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.segment !== undefined){
let data0 = data.segment;
if(typeof data0 === "string"){
if(func2(data0) < 1){
const err2 = {instancePath:instancePath+"/segment",schemaPath:"#/properties/segment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema41.properties.segment,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/segment",schemaPath:"#/properties/segment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.segment.type,parentSchema:schema41.properties.segment,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.flag !== undefined){
let data1 = data.flag;
if(typeof data1 === "string"){
if(func2(data1) < 1){
const err4 = {instancePath:instancePath+"/flag",schemaPath:"#/properties/flag/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema41.properties.flag,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/flag",schemaPath:"#/properties/flag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.flag.type,parentSchema:schema41.properties.flag,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.treatments !== undefined){
let data2 = data.treatments;
if(Array.isArray(data2)){
if(data2.length < 1){
const err6 = {instancePath:instancePath+"/treatments",schemaPath:"#/properties/treatments/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema41.properties.treatments,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(typeof data3 === "string"){
if(func2(data3) < 1){
const err7 = {instancePath:instancePath+"/treatments/" + i0,schemaPath:"#/properties/treatments/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema41.properties.treatments.items,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/treatments/" + i0,schemaPath:"#/properties/treatments/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.treatments.items.type,parentSchema:schema41.properties.treatments.items,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
else {
const err9 = {instancePath:instancePath+"/treatments",schemaPath:"#/properties/treatments/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema41.properties.treatments.type,parentSchema:schema41.properties.treatments,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.attribute !== undefined){
let data4 = data.attribute;
if(typeof data4 === "string"){
if(func2(data4) < 1){
const err10 = {instancePath:instancePath+"/attribute",schemaPath:"#/properties/attribute/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema41.properties.attribute,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/attribute",schemaPath:"#/properties/attribute/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.attribute.type,parentSchema:schema41.properties.attribute,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.in !== undefined){
let data5 = data.in;
const _errs14 = errors;
let valid4 = false;
const _errs15 = errors;
if(typeof data5 !== "string"){
const err12 = {instancePath:instancePath+"/in",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
var _valid0 = _errs15 === errors;
valid4 = valid4 || _valid0;
const _errs17 = errors;
if(Array.isArray(data5)){
if(data5.length < 1){
const err13 = {instancePath:instancePath+"/in",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const len1 = data5.length;
for(let i1=0; i1<len1; i1++){
let data6 = data5[i1];
if(typeof data6 !== "string"){
const err14 = {instancePath:instancePath+"/in/" + i1,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
}
else {
const err15 = {instancePath:instancePath+"/in",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data5};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
var _valid0 = _errs17 === errors;
valid4 = valid4 || _valid0;
if(!valid4){
const err16 = {instancePath:instancePath+"/in",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data5};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
else {
errors = _errs14;
if(vErrors !== null){
if(_errs14){
vErrors.length = _errs14;
}
else {
vErrors = null;
}
}
}
}
if(data.startsWith !== undefined){
let data7 = data.startsWith;
const _errs23 = errors;
let valid8 = false;
const _errs24 = errors;
if(typeof data7 !== "string"){
const err17 = {instancePath:instancePath+"/startsWith",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data7};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
var _valid1 = _errs24 === errors;
valid8 = valid8 || _valid1;
const _errs26 = errors;
if(Array.isArray(data7)){
if(data7.length < 1){
const err18 = {instancePath:instancePath+"/startsWith",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data7};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
const len2 = data7.length;
for(let i2=0; i2<len2; i2++){
let data8 = data7[i2];
if(typeof data8 !== "string"){
const err19 = {instancePath:instancePath+"/startsWith/" + i2,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data8};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/startsWith",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data7};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
var _valid1 = _errs26 === errors;
valid8 = valid8 || _valid1;
if(!valid8){
const err21 = {instancePath:instancePath+"/startsWith",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data7};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
else {
errors = _errs23;
if(vErrors !== null){
if(_errs23){
vErrors.length = _errs23;
}
else {
vErrors = null;
}
}
}
}
if(data.endsWith !== undefined){
let data9 = data.endsWith;
const _errs32 = errors;
let valid12 = false;
const _errs33 = errors;
if(typeof data9 !== "string"){
const err22 = {instancePath:instancePath+"/endsWith",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data9};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
var _valid2 = _errs33 === errors;
valid12 = valid12 || _valid2;
const _errs35 = errors;
if(Array.isArray(data9)){
if(data9.length < 1){
const err23 = {instancePath:instancePath+"/endsWith",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data9};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
const len3 = data9.length;
for(let i3=0; i3<len3; i3++){
let data10 = data9[i3];
if(typeof data10 !== "string"){
const err24 = {instancePath:instancePath+"/endsWith/" + i3,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data10};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
else {
const err25 = {instancePath:instancePath+"/endsWith",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data9};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
var _valid2 = _errs35 === errors;
valid12 = valid12 || _valid2;
if(!valid12){
const err26 = {instancePath:instancePath+"/endsWith",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data9};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
else {
errors = _errs32;
if(vErrors !== null){
if(_errs32){
vErrors.length = _errs32;
}
else {
vErrors = null;
}
}
}
}
if(data.contains !== undefined){
let data11 = data.contains;
const _errs41 = errors;
let valid16 = false;
const _errs42 = errors;
if(typeof data11 !== "string"){
const err27 = {instancePath:instancePath+"/contains",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data11};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
var _valid3 = _errs42 === errors;
valid16 = valid16 || _valid3;
const _errs44 = errors;
if(Array.isArray(data11)){
if(data11.length < 1){
const err28 = {instancePath:instancePath+"/contains",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data11};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
const len4 = data11.length;
for(let i4=0; i4<len4; i4++){
let data12 = data11[i4];
if(typeof data12 !== "string"){
const err29 = {instancePath:instancePath+"/contains/" + i4,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data12};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
else {
const err30 = {instancePath:instancePath+"/contains",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data11};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
var _valid3 = _errs44 === errors;
valid16 = valid16 || _valid3;
if(!valid16){
const err31 = {instancePath:instancePath+"/contains",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data11};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
else {
errors = _errs41;
if(vErrors !== null){
if(_errs41){
vErrors.length = _errs41;
}
else {
vErrors = null;
}
}
}
}
if(data.matches !== undefined){
let data13 = data.matches;
if(typeof data13 === "string"){
if(func2(data13) < 1){
const err32 = {instancePath:instancePath+"/matches",schemaPath:"#/properties/matches/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema41.properties.matches,data:data13};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
else {
const err33 = {instancePath:instancePath+"/matches",schemaPath:"#/properties/matches/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.matches.type,parentSchema:schema41.properties.matches,data:data13};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data.is !== undefined){
let data14 = data.is;
if(typeof data14 !== "boolean"){
const err34 = {instancePath:instancePath+"/is",schemaPath:"#/properties/is/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema41.properties.is.type,parentSchema:schema41.properties.is,data:data14};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data.equals !== undefined){
let data15 = data.equals;
if(!((typeof data15 == "number") && (isFinite(data15)))){
const err35 = {instancePath:instancePath+"/equals",schemaPath:"#/properties/equals/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema41.properties.equals.type,parentSchema:schema41.properties.equals,data:data15};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data.atLeast !== undefined){
let data16 = data.atLeast;
if(!((typeof data16 == "number") && (isFinite(data16)))){
const err36 = {instancePath:instancePath+"/atLeast",schemaPath:"#/properties/atLeast/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema41.properties.atLeast.type,parentSchema:schema41.properties.atLeast,data:data16};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data.atMost !== undefined){
let data17 = data.atMost;
if(!((typeof data17 == "number") && (isFinite(data17)))){
const err37 = {instancePath:instancePath+"/atMost",schemaPath:"#/properties/atMost/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema41.properties.atMost.type,parentSchema:schema41.properties.atMost,data:data17};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data.between !== undefined){
let data18 = data.between;
const _errs60 = errors;
let valid20 = false;
const _errs61 = errors;
if(Array.isArray(data18)){
if(data18.length > 2){
const err38 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf/0/maxItems",keyword:"maxItems",params:{limit: 2},message:"must NOT have more than 2 items",schema:2,parentSchema:schema46.anyOf[0],data:data18};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if(data18.length < 2){
const err39 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf/0/minItems",keyword:"minItems",params:{limit: 2},message:"must NOT have fewer than 2 items",schema:2,parentSchema:schema46.anyOf[0],data:data18};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
const len5 = data18.length;
for(let i5=0; i5<len5; i5++){
let data19 = data18[i5];
if(!((typeof data19 == "number") && (isFinite(data19)))){
const err40 = {instancePath:instancePath+"/between/" + i5,schemaPath:"#/$defs/numberRange/anyOf/0/items/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema46.anyOf[0].items.type,parentSchema:schema46.anyOf[0].items,data:data19};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
else {
const err41 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf/0/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema46.anyOf[0].type,parentSchema:schema46.anyOf[0],data:data18};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
var _valid4 = _errs61 === errors;
valid20 = valid20 || _valid4;
const _errs65 = errors;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
if(data18.from === undefined){
const err42 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf/1/required",keyword:"required",params:{missingProperty: "from"},message:"must have required property '"+"from"+"'",schema:schema46.anyOf[1].required,parentSchema:schema46.anyOf[1],data:data18};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
if(data18.to === undefined){
const err43 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf/1/required",keyword:"required",params:{missingProperty: "to"},message:"must have required property '"+"to"+"'",schema:schema46.anyOf[1].required,parentSchema:schema46.anyOf[1],data:data18};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
for(const key1 in data18){
if(!((key1 === "from") || (key1 === "to"))){
const err44 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf/1/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema46.anyOf[1],data:data18};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data18.from !== undefined){
let data20 = data18.from;
if(!((typeof data20 == "number") && (isFinite(data20)))){
const err45 = {instancePath:instancePath+"/between/from",schemaPath:"#/$defs/numberRange/anyOf/1/properties/from/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema46.anyOf[1].properties.from.type,parentSchema:schema46.anyOf[1].properties.from,data:data20};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
if(data18.to !== undefined){
let data21 = data18.to;
if(!((typeof data21 == "number") && (isFinite(data21)))){
const err46 = {instancePath:instancePath+"/between/to",schemaPath:"#/$defs/numberRange/anyOf/1/properties/to/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema46.anyOf[1].properties.to.type,parentSchema:schema46.anyOf[1].properties.to,data:data21};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
}
else {
const err47 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema46.anyOf[1].type,parentSchema:schema46.anyOf[1],data:data18};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
var _valid4 = _errs65 === errors;
valid20 = valid20 || _valid4;
if(!valid20){
const err48 = {instancePath:instancePath+"/between",schemaPath:"#/$defs/numberRange/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema46.anyOf,parentSchema:schema46,data:data18};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
else {
errors = _errs60;
if(vErrors !== null){
if(_errs60){
vErrors.length = _errs60;
}
else {
vErrors = null;
}
}
}
}
if(data.on !== undefined){
let data22 = data.on;
if((typeof data22 !== "string") && (!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22))))){
const err49 = {instancePath:instancePath+"/on",schemaPath:"#/$defs/date/type",keyword:"type",params:{type: schema47.type},message:"must be string,integer",schema:schema47.type,parentSchema:schema47,data:data22};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
if(data.onOrAfter !== undefined){
let data23 = data.onOrAfter;
if((typeof data23 !== "string") && (!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23))))){
const err50 = {instancePath:instancePath+"/onOrAfter",schemaPath:"#/$defs/date/type",keyword:"type",params:{type: schema47.type},message:"must be string,integer",schema:schema47.type,parentSchema:schema47,data:data23};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
if(data.onOrBefore !== undefined){
let data24 = data.onOrBefore;
if((typeof data24 !== "string") && (!(((typeof data24 == "number") && (!(data24 % 1) && !isNaN(data24))) && (isFinite(data24))))){
const err51 = {instancePath:instancePath+"/onOrBefore",schemaPath:"#/$defs/date/type",keyword:"type",params:{type: schema47.type},message:"must be string,integer",schema:schema47.type,parentSchema:schema47,data:data24};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
if(data.betweenDates !== undefined){
if(!(validate31(data.betweenDates, {instancePath:instancePath+"/betweenDates",parentData:data,parentDataProperty:"betweenDates",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate31.errors : vErrors.concat(validate31.errors);
errors = vErrors.length;
}
}
if(data.setEquals !== undefined){
let data26 = data.setEquals;
const _errs84 = errors;
let valid28 = false;
const _errs85 = errors;
if(typeof data26 !== "string"){
const err52 = {instancePath:instancePath+"/setEquals",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data26};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
var _valid5 = _errs85 === errors;
valid28 = valid28 || _valid5;
const _errs87 = errors;
if(Array.isArray(data26)){
if(data26.length < 1){
const err53 = {instancePath:instancePath+"/setEquals",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data26};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
const len6 = data26.length;
for(let i6=0; i6<len6; i6++){
let data27 = data26[i6];
if(typeof data27 !== "string"){
const err54 = {instancePath:instancePath+"/setEquals/" + i6,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data27};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
}
else {
const err55 = {instancePath:instancePath+"/setEquals",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data26};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
var _valid5 = _errs87 === errors;
valid28 = valid28 || _valid5;
if(!valid28){
const err56 = {instancePath:instancePath+"/setEquals",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data26};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
else {
errors = _errs84;
if(vErrors !== null){
if(_errs84){
vErrors.length = _errs84;
}
else {
vErrors = null;
}
}
}
}
if(data.setAnyOf !== undefined){
let data28 = data.setAnyOf;
const _errs93 = errors;
let valid32 = false;
const _errs94 = errors;
if(typeof data28 !== "string"){
const err57 = {instancePath:instancePath+"/setAnyOf",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data28};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
var _valid6 = _errs94 === errors;
valid32 = valid32 || _valid6;
const _errs96 = errors;
if(Array.isArray(data28)){
if(data28.length < 1){
const err58 = {instancePath:instancePath+"/setAnyOf",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data28};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
const len7 = data28.length;
for(let i7=0; i7<len7; i7++){
let data29 = data28[i7];
if(typeof data29 !== "string"){
const err59 = {instancePath:instancePath+"/setAnyOf/" + i7,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data29};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
}
else {
const err60 = {instancePath:instancePath+"/setAnyOf",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data28};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
var _valid6 = _errs96 === errors;
valid32 = valid32 || _valid6;
if(!valid32){
const err61 = {instancePath:instancePath+"/setAnyOf",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data28};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
else {
errors = _errs93;
if(vErrors !== null){
if(_errs93){
vErrors.length = _errs93;
}
else {
vErrors = null;
}
}
}
}
if(data.setAllOf !== undefined){
let data30 = data.setAllOf;
const _errs102 = errors;
let valid36 = false;
const _errs103 = errors;
if(typeof data30 !== "string"){
const err62 = {instancePath:instancePath+"/setAllOf",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data30};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
var _valid7 = _errs103 === errors;
valid36 = valid36 || _valid7;
const _errs105 = errors;
if(Array.isArray(data30)){
if(data30.length < 1){
const err63 = {instancePath:instancePath+"/setAllOf",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data30};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
const len8 = data30.length;
for(let i8=0; i8<len8; i8++){
let data31 = data30[i8];
if(typeof data31 !== "string"){
const err64 = {instancePath:instancePath+"/setAllOf/" + i8,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data31};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
}
else {
const err65 = {instancePath:instancePath+"/setAllOf",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data30};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
var _valid7 = _errs105 === errors;
valid36 = valid36 || _valid7;
if(!valid36){
const err66 = {instancePath:instancePath+"/setAllOf",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data30};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
else {
errors = _errs102;
if(vErrors !== null){
if(_errs102){
vErrors.length = _errs102;
}
else {
vErrors = null;
}
}
}
}
if(data.setPartOf !== undefined){
let data32 = data.setPartOf;
const _errs111 = errors;
let valid40 = false;
const _errs112 = errors;
if(typeof data32 !== "string"){
const err67 = {instancePath:instancePath+"/setPartOf",schemaPath:"#/$defs/texts/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[0].type,parentSchema:schema42.anyOf[0],data:data32};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
var _valid8 = _errs112 === errors;
valid40 = valid40 || _valid8;
const _errs114 = errors;
if(Array.isArray(data32)){
if(data32.length < 1){
const err68 = {instancePath:instancePath+"/setPartOf",schemaPath:"#/$defs/texts/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema42.anyOf[1],data:data32};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
const len9 = data32.length;
for(let i9=0; i9<len9; i9++){
let data33 = data32[i9];
if(typeof data33 !== "string"){
const err69 = {instancePath:instancePath+"/setPartOf/" + i9,schemaPath:"#/$defs/texts/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema42.anyOf[1].items.type,parentSchema:schema42.anyOf[1].items,data:data33};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
}
else {
const err70 = {instancePath:instancePath+"/setPartOf",schemaPath:"#/$defs/texts/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema42.anyOf[1].type,parentSchema:schema42.anyOf[1],data:data32};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
var _valid8 = _errs114 === errors;
valid40 = valid40 || _valid8;
if(!valid40){
const err71 = {instancePath:instancePath+"/setPartOf",schemaPath:"#/$defs/texts/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema42.anyOf,parentSchema:schema42,data:data32};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
else {
errors = _errs111;
if(vErrors !== null){
if(_errs111){
vErrors.length = _errs111;
}
else {
vErrors = null;
}
}
}
}
if(data.matcher !== undefined){
let data34 = data.matcher;
if(data34 && typeof data34 == "object" && !Array.isArray(data34)){
if(data34.type === undefined){
const err72 = {instancePath:instancePath+"/matcher",schemaPath:"#/properties/matcher/required",keyword:"required",params:{missingProperty: "type"},message:"must have required property '"+"type"+"'",schema:schema41.properties.matcher.required,parentSchema:schema41.properties.matcher,data:data34};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
if(data34.type !== undefined){
let data35 = data34.type;
if(typeof data35 === "string"){
if(func2(data35) < 1){
const err73 = {instancePath:instancePath+"/matcher/type",schemaPath:"#/properties/matcher/properties/type/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema41.properties.matcher.properties.type,data:data35};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
else {
const err74 = {instancePath:instancePath+"/matcher/type",schemaPath:"#/properties/matcher/properties/type/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.matcher.properties.type.type,parentSchema:schema41.properties.matcher.properties.type,data:data35};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
}
else {
const err75 = {instancePath:instancePath+"/matcher",schemaPath:"#/properties/matcher/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema41.properties.matcher.type,parentSchema:schema41.properties.matcher,data:data34};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data.use !== undefined){
let data36 = data.use;
if(typeof data36 === "string"){
if(func2(data36) < 1){
const err76 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema41.properties.use,data:data36};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
else {
const err77 = {instancePath:instancePath+"/use",schemaPath:"#/properties/use/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema41.properties.use.type,parentSchema:schema41.properties.use,data:data36};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
if(data.not !== undefined){
let data37 = data.not;
if(typeof data37 !== "boolean"){
const err78 = {instancePath:instancePath+"/not",schemaPath:"#/properties/not/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema41.properties.not.type,parentSchema:schema41.properties.not,data:data37};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
}
else {
const err79 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema41.type,parentSchema:schema41,data};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
validate30.errors = vErrors;
return errors === 0;
}
validate30.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate50(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate50.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(!(validate30(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
const _errs2 = errors;
if(Array.isArray(data)){
if(data.length < 1){
const err0 = {instancePath,schemaPath:"#/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema40.anyOf[1],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
if(!(validate30(data[i0], {instancePath:instancePath+"/" + i0,parentData:data,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema40.anyOf[1].type,parentSchema:schema40.anyOf[1],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs2 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var items0 = true;
}
if(!valid0){
const err2 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema40.anyOf,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate50.errors = vErrors;
evaluated0.props = props0;
evaluated0.items = items0;
return errors === 0;
}
validate50.evaluated = {"dynamicProps":true,"dynamicItems":true};


function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:config:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.workspace === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "workspace"},message:"must have required property '"+"workspace"+"'",schema:schema31.required,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.environments === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "environments"},message:"must have required property '"+"environments"+"'",schema:schema31.required,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema31.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.workspace !== undefined){
let data0 = data.workspace;
if(typeof data0 === "string"){
if(func2(data0) < 1){
const err3 = {instancePath:instancePath+"/workspace",schemaPath:"#/properties/workspace/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.workspace,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/workspace",schemaPath:"#/properties/workspace/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.workspace.type,parentSchema:schema31.properties.workspace,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.environments !== undefined){
let data1 = data.environments;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(Object.keys(data1).length < 1){
const err5 = {instancePath:instancePath+"/environments",schemaPath:"#/properties/environments/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema31.properties.environments,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
for(const key1 in data1){
let data2 = data1[key1];
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
for(const key2 in data2){
if(!((((((key2 === "protected") || (key2 === "onDrift")) || (key2 === "onConflict")) || (key2 === "onLiveKill")) || (key2 === "guards")) || (key2 === "windows"))){
const err6 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/environments/additionalProperties/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.environments.additionalProperties,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data2.protected !== undefined){
let data3 = data2.protected;
if(typeof data3 !== "boolean"){
const err7 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/protected",schemaPath:"#/properties/environments/additionalProperties/properties/protected/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema31.properties.environments.additionalProperties.properties.protected.type,parentSchema:schema31.properties.environments.additionalProperties.properties.protected,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data2.onDrift !== undefined){
let data4 = data2.onDrift;
if(!((data4 === "revert") || (data4 === "report"))){
const err8 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/onDrift",schemaPath:"#/$defs/onDrift/enum",keyword:"enum",params:{allowedValues: schema32.enum},message:"must be equal to one of the allowed values",schema:schema32.enum,parentSchema:schema32,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data2.onConflict !== undefined){
let data5 = data2.onConflict;
if(!((data5 === "apply") || (data5 === "hold"))){
const err9 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/onConflict",schemaPath:"#/properties/environments/additionalProperties/properties/onConflict/enum",keyword:"enum",params:{allowedValues: schema31.properties.environments.additionalProperties.properties.onConflict.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.environments.additionalProperties.properties.onConflict.enum,parentSchema:schema31.properties.environments.additionalProperties.properties.onConflict,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data2.onLiveKill !== undefined){
let data6 = data2.onLiveKill;
if(!((data6 === "keep") || (data6 === "revert"))){
const err10 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/onLiveKill",schemaPath:"#/properties/environments/additionalProperties/properties/onLiveKill/enum",keyword:"enum",params:{allowedValues: schema31.properties.environments.additionalProperties.properties.onLiveKill.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.environments.additionalProperties.properties.onLiveKill.enum,parentSchema:schema31.properties.environments.additionalProperties.properties.onLiveKill,data:data6};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data2.guards !== undefined){
let data7 = data2.guards;
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
for(const key3 in data7){
if(!(((((key3 === "maxDeletes") || (key3 === "maxDeletePercent")) || (key3 === "maxKeyRemovals")) || (key3 === "maxKeyRemovalPercent")) || (key3 === "maxShift"))){
const err11 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards",schemaPath:"#/$defs/guards/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties",schema:false,parentSchema:schema33,data:data7};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data7.maxDeletes !== undefined){
let data8 = data7.maxDeletes;
if(!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))){
const err12 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxDeletes",schemaPath:"#/$defs/guards/properties/maxDeletes/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxDeletes.type,parentSchema:schema33.properties.maxDeletes,data:data8};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if((typeof data8 == "number") && (isFinite(data8))){
if(data8 < 0 || isNaN(data8)){
const err13 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxDeletes",schemaPath:"#/$defs/guards/properties/maxDeletes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxDeletes,data:data8};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
if(data7.maxDeletePercent !== undefined){
let data9 = data7.maxDeletePercent;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err14 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxDeletePercent",schemaPath:"#/$defs/guards/properties/maxDeletePercent/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxDeletePercent.type,parentSchema:schema33.properties.maxDeletePercent,data:data9};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 > 100 || isNaN(data9)){
const err15 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxDeletePercent",schemaPath:"#/$defs/guards/properties/maxDeletePercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema33.properties.maxDeletePercent,data:data9};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(data9 < 0 || isNaN(data9)){
const err16 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxDeletePercent",schemaPath:"#/$defs/guards/properties/maxDeletePercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxDeletePercent,data:data9};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
if(data7.maxKeyRemovals !== undefined){
let data10 = data7.maxKeyRemovals;
if(!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))){
const err17 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxKeyRemovals",schemaPath:"#/$defs/guards/properties/maxKeyRemovals/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxKeyRemovals.type,parentSchema:schema33.properties.maxKeyRemovals,data:data10};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if((typeof data10 == "number") && (isFinite(data10))){
if(data10 < 0 || isNaN(data10)){
const err18 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxKeyRemovals",schemaPath:"#/$defs/guards/properties/maxKeyRemovals/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxKeyRemovals,data:data10};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
if(data7.maxKeyRemovalPercent !== undefined){
let data11 = data7.maxKeyRemovalPercent;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
const err19 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxKeyRemovalPercent",schemaPath:"#/$defs/guards/properties/maxKeyRemovalPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxKeyRemovalPercent.type,parentSchema:schema33.properties.maxKeyRemovalPercent,data:data11};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 100 || isNaN(data11)){
const err20 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxKeyRemovalPercent",schemaPath:"#/$defs/guards/properties/maxKeyRemovalPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema33.properties.maxKeyRemovalPercent,data:data11};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(data11 < 0 || isNaN(data11)){
const err21 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxKeyRemovalPercent",schemaPath:"#/$defs/guards/properties/maxKeyRemovalPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxKeyRemovalPercent,data:data11};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
if(data7.maxShift !== undefined){
let data12 = data7.maxShift;
if(!(((typeof data12 == "number") && (!(data12 % 1) && !isNaN(data12))) && (isFinite(data12)))){
const err22 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxShift",schemaPath:"#/$defs/guards/properties/maxShift/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxShift.type,parentSchema:schema33.properties.maxShift,data:data12};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if((typeof data12 == "number") && (isFinite(data12))){
if(data12 > 100 || isNaN(data12)){
const err23 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxShift",schemaPath:"#/$defs/guards/properties/maxShift/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema33.properties.maxShift,data:data12};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if(data12 < 0 || isNaN(data12)){
const err24 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards/maxShift",schemaPath:"#/$defs/guards/properties/maxShift/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxShift,data:data12};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
}
else {
const err25 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/guards",schemaPath:"#/$defs/guards/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema33.type,parentSchema:schema33,data:data7};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data2.windows !== undefined){
let data13 = data2.windows;
if(Array.isArray(data13)){
if(data13.length < 1){
const err26 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/windows",schemaPath:"#/properties/environments/additionalProperties/properties/windows/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema31.properties.environments.additionalProperties.properties.windows,data:data13};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
const len0 = data13.length;
for(let i0=0; i0<len0; i0++){
let data14 = data13[i0];
if(typeof data14 === "string"){
if(func2(data14) < 1){
const err27 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/windows/" + i0,schemaPath:"#/properties/environments/additionalProperties/properties/windows/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.environments.additionalProperties.properties.windows.items,data:data14};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
else {
const err28 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/windows/" + i0,schemaPath:"#/properties/environments/additionalProperties/properties/windows/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.environments.additionalProperties.properties.windows.items.type,parentSchema:schema31.properties.environments.additionalProperties.properties.windows.items,data:data14};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/windows",schemaPath:"#/properties/environments/additionalProperties/properties/windows/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.environments.additionalProperties.properties.windows.type,parentSchema:schema31.properties.environments.additionalProperties.properties.windows,data:data13};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
else {
const err30 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/environments/additionalProperties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.environments.additionalProperties.type,parentSchema:schema31.properties.environments.additionalProperties,data:data2};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
else {
const err31 = {instancePath:instancePath+"/environments",schemaPath:"#/properties/environments/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.environments.type,parentSchema:schema31.properties.environments,data:data1};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data.checks !== undefined){
let data15 = data.checks;
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
for(const key4 in data15){
let data16 = data15[key4];
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
for(const key5 in data16){
if(!((((((((key5 === "url") || (key5 === "value")) || (key5 === "prometheus")) || (key5 === "query")) || (key5 === "equals")) || (key5 === "atMost")) || (key5 === "atLeast")) || (key5 === "timeout"))){
const err32 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/checks/additionalProperties/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.checks.additionalProperties,data:data16};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data16.url !== undefined){
let data17 = data16.url;
if(typeof data17 === "string"){
if(func2(data17) < 1){
const err33 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/url",schemaPath:"#/properties/checks/additionalProperties/properties/url/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.checks.additionalProperties.properties.url,data:data17};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
else {
const err34 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/url",schemaPath:"#/properties/checks/additionalProperties/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.checks.additionalProperties.properties.url.type,parentSchema:schema31.properties.checks.additionalProperties.properties.url,data:data17};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data16.value !== undefined){
let data18 = data16.value;
if(typeof data18 === "string"){
if(!pattern4.test(data18)){
const err35 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/value",schemaPath:"#/properties/checks/additionalProperties/properties/value/pattern",keyword:"pattern",params:{pattern: "^(/[^/]+)+$"},message:"must match pattern \""+"^(/[^/]+)+$"+"\"",schema:"^(/[^/]+)+$",parentSchema:schema31.properties.checks.additionalProperties.properties.value,data:data18};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
else {
const err36 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/value",schemaPath:"#/properties/checks/additionalProperties/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.checks.additionalProperties.properties.value.type,parentSchema:schema31.properties.checks.additionalProperties.properties.value,data:data18};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data16.prometheus !== undefined){
let data19 = data16.prometheus;
if(typeof data19 === "string"){
if(func2(data19) < 1){
const err37 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/prometheus",schemaPath:"#/properties/checks/additionalProperties/properties/prometheus/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.checks.additionalProperties.properties.prometheus,data:data19};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
else {
const err38 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/prometheus",schemaPath:"#/properties/checks/additionalProperties/properties/prometheus/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.checks.additionalProperties.properties.prometheus.type,parentSchema:schema31.properties.checks.additionalProperties.properties.prometheus,data:data19};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data16.query !== undefined){
let data20 = data16.query;
if(typeof data20 === "string"){
if(func2(data20) < 1){
const err39 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/query",schemaPath:"#/properties/checks/additionalProperties/properties/query/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.checks.additionalProperties.properties.query,data:data20};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
else {
const err40 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/query",schemaPath:"#/properties/checks/additionalProperties/properties/query/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.checks.additionalProperties.properties.query.type,parentSchema:schema31.properties.checks.additionalProperties.properties.query,data:data20};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
if(data16.equals !== undefined){
let data21 = data16.equals;
if(((typeof data21 !== "string") && (!((typeof data21 == "number") && (isFinite(data21))))) && (typeof data21 !== "boolean")){
const err41 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/equals",schemaPath:"#/properties/checks/additionalProperties/properties/equals/type",keyword:"type",params:{type: schema31.properties.checks.additionalProperties.properties.equals.type},message:"must be string,number,boolean",schema:schema31.properties.checks.additionalProperties.properties.equals.type,parentSchema:schema31.properties.checks.additionalProperties.properties.equals,data:data21};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data16.atMost !== undefined){
let data22 = data16.atMost;
if(!((typeof data22 == "number") && (isFinite(data22)))){
const err42 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/atMost",schemaPath:"#/properties/checks/additionalProperties/properties/atMost/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema31.properties.checks.additionalProperties.properties.atMost.type,parentSchema:schema31.properties.checks.additionalProperties.properties.atMost,data:data22};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data16.atLeast !== undefined){
let data23 = data16.atLeast;
if(!((typeof data23 == "number") && (isFinite(data23)))){
const err43 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/atLeast",schemaPath:"#/properties/checks/additionalProperties/properties/atLeast/type",keyword:"type",params:{type: "number"},message:"must be number",schema:schema31.properties.checks.additionalProperties.properties.atLeast.type,parentSchema:schema31.properties.checks.additionalProperties.properties.atLeast,data:data23};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
if(data16.timeout !== undefined){
let data24 = data16.timeout;
if(typeof data24 === "string"){
if(!pattern5.test(data24)){
const err44 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/timeout",schemaPath:"#/properties/checks/additionalProperties/properties/timeout/pattern",keyword:"pattern",params:{pattern: "^([1-9]|[12][0-9]|30)s$"},message:"must match pattern \""+"^([1-9]|[12][0-9]|30)s$"+"\"",schema:"^([1-9]|[12][0-9]|30)s$",parentSchema:schema31.properties.checks.additionalProperties.properties.timeout,data:data24};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
else {
const err45 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1")+"/timeout",schemaPath:"#/properties/checks/additionalProperties/properties/timeout/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.checks.additionalProperties.properties.timeout.type,parentSchema:schema31.properties.checks.additionalProperties.properties.timeout,data:data24};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
}
else {
const err46 = {instancePath:instancePath+"/checks/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/checks/additionalProperties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.checks.additionalProperties.type,parentSchema:schema31.properties.checks.additionalProperties,data:data16};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
}
else {
const err47 = {instancePath:instancePath+"/checks",schemaPath:"#/properties/checks/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.checks.type,parentSchema:schema31.properties.checks,data:data15};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
if(data.windows !== undefined){
let data25 = data.windows;
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
for(const key6 in data25){
let data26 = data25[key6];
if(data26 && typeof data26 == "object" && !Array.isArray(data26)){
if(data26.from === undefined){
const err48 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/windows/additionalProperties/required",keyword:"required",params:{missingProperty: "from"},message:"must have required property '"+"from"+"'",schema:schema31.properties.windows.additionalProperties.required,parentSchema:schema31.properties.windows.additionalProperties,data:data26};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if(data26.to === undefined){
const err49 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/windows/additionalProperties/required",keyword:"required",params:{missingProperty: "to"},message:"must have required property '"+"to"+"'",schema:schema31.properties.windows.additionalProperties.required,parentSchema:schema31.properties.windows.additionalProperties,data:data26};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
if(data26.zone === undefined){
const err50 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/windows/additionalProperties/required",keyword:"required",params:{missingProperty: "zone"},message:"must have required property '"+"zone"+"'",schema:schema31.properties.windows.additionalProperties.required,parentSchema:schema31.properties.windows.additionalProperties,data:data26};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
for(const key7 in data26){
if(!((((key7 === "days") || (key7 === "from")) || (key7 === "to")) || (key7 === "zone"))){
const err51 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/windows/additionalProperties/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.windows.additionalProperties,data:data26};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
if(data26.days !== undefined){
let data27 = data26.days;
if(Array.isArray(data27)){
if(data27.length < 1){
const err52 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/days",schemaPath:"#/properties/windows/additionalProperties/properties/days/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema31.properties.windows.additionalProperties.properties.days,data:data27};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
const len1 = data27.length;
for(let i1=0; i1<len1; i1++){
let data28 = data27[i1];
if(!(((((((data28 === "mon") || (data28 === "tue")) || (data28 === "wed")) || (data28 === "thu")) || (data28 === "fri")) || (data28 === "sat")) || (data28 === "sun"))){
const err53 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/days/" + i1,schemaPath:"#/properties/windows/additionalProperties/properties/days/items/enum",keyword:"enum",params:{allowedValues: schema31.properties.windows.additionalProperties.properties.days.items.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.windows.additionalProperties.properties.days.items.enum,parentSchema:schema31.properties.windows.additionalProperties.properties.days.items,data:data28};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
}
else {
const err54 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/days",schemaPath:"#/properties/windows/additionalProperties/properties/days/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.windows.additionalProperties.properties.days.type,parentSchema:schema31.properties.windows.additionalProperties.properties.days,data:data27};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
if(data26.from !== undefined){
let data29 = data26.from;
if(typeof data29 === "string"){
if(!pattern6.test(data29)){
const err55 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/from",schemaPath:"#/properties/windows/additionalProperties/properties/from/pattern",keyword:"pattern",params:{pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$"},message:"must match pattern \""+"^([01][0-9]|2[0-3]):[0-5][0-9]$"+"\"",schema:"^([01][0-9]|2[0-3]):[0-5][0-9]$",parentSchema:schema31.properties.windows.additionalProperties.properties.from,data:data29};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
else {
const err56 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/from",schemaPath:"#/properties/windows/additionalProperties/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.windows.additionalProperties.properties.from.type,parentSchema:schema31.properties.windows.additionalProperties.properties.from,data:data29};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data26.to !== undefined){
let data30 = data26.to;
if(typeof data30 === "string"){
if(!pattern7.test(data30)){
const err57 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/to",schemaPath:"#/properties/windows/additionalProperties/properties/to/pattern",keyword:"pattern",params:{pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"},message:"must match pattern \""+"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$"+"\"",schema:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",parentSchema:schema31.properties.windows.additionalProperties.properties.to,data:data30};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
else {
const err58 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/to",schemaPath:"#/properties/windows/additionalProperties/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.windows.additionalProperties.properties.to.type,parentSchema:schema31.properties.windows.additionalProperties.properties.to,data:data30};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
if(data26.zone !== undefined){
let data31 = data26.zone;
if(typeof data31 === "string"){
if(func2(data31) < 1){
const err59 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/zone",schemaPath:"#/properties/windows/additionalProperties/properties/zone/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.windows.additionalProperties.properties.zone,data:data31};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
else {
const err60 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1")+"/zone",schemaPath:"#/properties/windows/additionalProperties/properties/zone/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.windows.additionalProperties.properties.zone.type,parentSchema:schema31.properties.windows.additionalProperties.properties.zone,data:data31};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
}
else {
const err61 = {instancePath:instancePath+"/windows/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/windows/additionalProperties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.windows.additionalProperties.type,parentSchema:schema31.properties.windows.additionalProperties,data:data26};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
}
else {
const err62 = {instancePath:instancePath+"/windows",schemaPath:"#/properties/windows/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.windows.type,parentSchema:schema31.properties.windows,data:data25};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
if(data.freezes !== undefined){
let data32 = data.freezes;
if(data32 && typeof data32 == "object" && !Array.isArray(data32)){
for(const key8 in data32){
let data33 = data32[key8];
if(data33 && typeof data33 == "object" && !Array.isArray(data33)){
if(data33.from === undefined){
const err63 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/freezes/additionalProperties/required",keyword:"required",params:{missingProperty: "from"},message:"must have required property '"+"from"+"'",schema:schema31.properties.freezes.additionalProperties.required,parentSchema:schema31.properties.freezes.additionalProperties,data:data33};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
if(data33.to === undefined){
const err64 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/freezes/additionalProperties/required",keyword:"required",params:{missingProperty: "to"},message:"must have required property '"+"to"+"'",schema:schema31.properties.freezes.additionalProperties.required,parentSchema:schema31.properties.freezes.additionalProperties,data:data33};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
for(const key9 in data33){
if(!(((((key9 === "from") || (key9 === "to")) || (key9 === "zone")) || (key9 === "environments")) || (key9 === "reason"))){
const err65 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/freezes/additionalProperties/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.freezes.additionalProperties,data:data33};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
if(data33.from !== undefined){
let data34 = data33.from;
if(typeof data34 === "string"){
if(func2(data34) < 1){
const err66 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/from",schemaPath:"#/properties/freezes/additionalProperties/properties/from/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.freezes.additionalProperties.properties.from,data:data34};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
else {
const err67 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/from",schemaPath:"#/properties/freezes/additionalProperties/properties/from/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.freezes.additionalProperties.properties.from.type,parentSchema:schema31.properties.freezes.additionalProperties.properties.from,data:data34};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
if(data33.to !== undefined){
let data35 = data33.to;
if(typeof data35 === "string"){
if(func2(data35) < 1){
const err68 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/to",schemaPath:"#/properties/freezes/additionalProperties/properties/to/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.freezes.additionalProperties.properties.to,data:data35};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
else {
const err69 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/to",schemaPath:"#/properties/freezes/additionalProperties/properties/to/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.freezes.additionalProperties.properties.to.type,parentSchema:schema31.properties.freezes.additionalProperties.properties.to,data:data35};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
}
if(data33.zone !== undefined){
let data36 = data33.zone;
if(typeof data36 === "string"){
if(func2(data36) < 1){
const err70 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/zone",schemaPath:"#/properties/freezes/additionalProperties/properties/zone/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.freezes.additionalProperties.properties.zone,data:data36};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
else {
const err71 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/zone",schemaPath:"#/properties/freezes/additionalProperties/properties/zone/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.freezes.additionalProperties.properties.zone.type,parentSchema:schema31.properties.freezes.additionalProperties.properties.zone,data:data36};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data33.environments !== undefined){
let data37 = data33.environments;
if(Array.isArray(data37)){
if(data37.length < 1){
const err72 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/environments",schemaPath:"#/properties/freezes/additionalProperties/properties/environments/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema31.properties.freezes.additionalProperties.properties.environments,data:data37};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
const len2 = data37.length;
for(let i2=0; i2<len2; i2++){
let data38 = data37[i2];
if(typeof data38 === "string"){
if(func2(data38) < 1){
const err73 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/environments/" + i2,schemaPath:"#/properties/freezes/additionalProperties/properties/environments/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.freezes.additionalProperties.properties.environments.items,data:data38};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
else {
const err74 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/environments/" + i2,schemaPath:"#/properties/freezes/additionalProperties/properties/environments/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.freezes.additionalProperties.properties.environments.items.type,parentSchema:schema31.properties.freezes.additionalProperties.properties.environments.items,data:data38};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
}
}
else {
const err75 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/environments",schemaPath:"#/properties/freezes/additionalProperties/properties/environments/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.freezes.additionalProperties.properties.environments.type,parentSchema:schema31.properties.freezes.additionalProperties.properties.environments,data:data37};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data33.reason !== undefined){
let data39 = data33.reason;
if(typeof data39 === "string"){
if(func2(data39) < 1){
const err76 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/reason",schemaPath:"#/properties/freezes/additionalProperties/properties/reason/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.freezes.additionalProperties.properties.reason,data:data39};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
else {
const err77 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/reason",schemaPath:"#/properties/freezes/additionalProperties/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.freezes.additionalProperties.properties.reason.type,parentSchema:schema31.properties.freezes.additionalProperties.properties.reason,data:data39};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
}
else {
const err78 = {instancePath:instancePath+"/freezes/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/freezes/additionalProperties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.freezes.additionalProperties.type,parentSchema:schema31.properties.freezes.additionalProperties,data:data33};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
}
else {
const err79 = {instancePath:instancePath+"/freezes",schemaPath:"#/properties/freezes/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.freezes.type,parentSchema:schema31.properties.freezes,data:data32};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
if(data.service !== undefined){
let data40 = data.service;
if(data40 && typeof data40 == "object" && !Array.isArray(data40)){
for(const key10 in data40){
if(!(key10 === "url")){
const err80 = {instancePath:instancePath+"/service",schemaPath:"#/properties/service/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.service,data:data40};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
if(data40.url !== undefined){
let data41 = data40.url;
if(typeof data41 === "string"){
if(func2(data41) < 1){
const err81 = {instancePath:instancePath+"/service/url",schemaPath:"#/properties/service/properties/url/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.service.properties.url,data:data41};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
}
else {
const err82 = {instancePath:instancePath+"/service/url",schemaPath:"#/properties/service/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.service.properties.url.type,parentSchema:schema31.properties.service.properties.url,data:data41};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
}
else {
const err83 = {instancePath:instancePath+"/service",schemaPath:"#/properties/service/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.service.type,parentSchema:schema31.properties.service,data:data40};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
if(data.defaults !== undefined){
let data42 = data.defaults;
if(data42 && typeof data42 == "object" && !Array.isArray(data42)){
for(const key11 in data42){
if(!(key11 === "trafficType")){
const err84 = {instancePath:instancePath+"/defaults",schemaPath:"#/properties/defaults/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key11},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.defaults,data:data42};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
if(data42.trafficType !== undefined){
let data43 = data42.trafficType;
if(typeof data43 === "string"){
if(func2(data43) < 1){
const err85 = {instancePath:instancePath+"/defaults/trafficType",schemaPath:"#/properties/defaults/properties/trafficType/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.defaults.properties.trafficType,data:data43};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
else {
const err86 = {instancePath:instancePath+"/defaults/trafficType",schemaPath:"#/properties/defaults/properties/trafficType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.defaults.properties.trafficType.type,parentSchema:schema31.properties.defaults.properties.trafficType,data:data43};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
}
}
else {
const err87 = {instancePath:instancePath+"/defaults",schemaPath:"#/properties/defaults/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.defaults.type,parentSchema:schema31.properties.defaults,data:data42};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
if(data.conditions !== undefined){
let data44 = data.conditions;
if(data44 && typeof data44 == "object" && !Array.isArray(data44)){
for(const key12 in data44){
if(!(validate50(data44[key12], {instancePath:instancePath+"/conditions/" + key12.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data44,parentDataProperty:key12,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate50.errors : vErrors.concat(validate50.errors);
errors = vErrors.length;
}
}
}
else {
const err88 = {instancePath:instancePath+"/conditions",schemaPath:"#/properties/conditions/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.conditions.type,parentSchema:schema31.properties.conditions,data:data44};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
if(data.references !== undefined){
let data46 = data.references;
if(data46 && typeof data46 == "object" && !Array.isArray(data46)){
for(const key13 in data46){
if(!((key13 === "segments") || (key13 === "flags"))){
const err89 = {instancePath:instancePath+"/references",schemaPath:"#/properties/references/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key13},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.references,data:data46};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
if(data46.segments !== undefined){
let data47 = data46.segments;
if(Array.isArray(data47)){
const len3 = data47.length;
for(let i3=0; i3<len3; i3++){
let data48 = data47[i3];
if(typeof data48 === "string"){
if(func2(data48) < 1){
const err90 = {instancePath:instancePath+"/references/segments/" + i3,schemaPath:"#/properties/references/properties/segments/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.references.properties.segments.items,data:data48};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
else {
const err91 = {instancePath:instancePath+"/references/segments/" + i3,schemaPath:"#/properties/references/properties/segments/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.references.properties.segments.items.type,parentSchema:schema31.properties.references.properties.segments.items,data:data48};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
}
else {
const err92 = {instancePath:instancePath+"/references/segments",schemaPath:"#/properties/references/properties/segments/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.references.properties.segments.type,parentSchema:schema31.properties.references.properties.segments,data:data47};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
if(data46.flags !== undefined){
let data49 = data46.flags;
if(Array.isArray(data49)){
const len4 = data49.length;
for(let i4=0; i4<len4; i4++){
let data50 = data49[i4];
if(typeof data50 === "string"){
if(func2(data50) < 1){
const err93 = {instancePath:instancePath+"/references/flags/" + i4,schemaPath:"#/properties/references/properties/flags/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.references.properties.flags.items,data:data50};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
else {
const err94 = {instancePath:instancePath+"/references/flags/" + i4,schemaPath:"#/properties/references/properties/flags/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.references.properties.flags.items.type,parentSchema:schema31.properties.references.properties.flags.items,data:data50};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
}
else {
const err95 = {instancePath:instancePath+"/references/flags",schemaPath:"#/properties/references/properties/flags/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.references.properties.flags.type,parentSchema:schema31.properties.references.properties.flags,data:data49};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
}
else {
const err96 = {instancePath:instancePath+"/references",schemaPath:"#/properties/references/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.references.type,parentSchema:schema31.properties.references,data:data46};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
}
if(data.prune !== undefined){
let data51 = data.prune;
if(typeof data51 !== "boolean"){
const err97 = {instancePath:instancePath+"/prune",schemaPath:"#/properties/prune/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema31.properties.prune.type,parentSchema:schema31.properties.prune,data:data51};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
}
if(data.onRemove !== undefined){
let data52 = data.onRemove;
if(!((data52 === "delete") || (data52 === "archive"))){
const err98 = {instancePath:instancePath+"/onRemove",schemaPath:"#/properties/onRemove/enum",keyword:"enum",params:{allowedValues: schema31.properties.onRemove.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.onRemove.enum,parentSchema:schema31.properties.onRemove,data:data52};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
if(data.tombstone !== undefined){
let data53 = data.tombstone;
if(data53 && typeof data53 == "object" && !Array.isArray(data53)){
if(data53.coolDown === undefined){
const err99 = {instancePath:instancePath+"/tombstone",schemaPath:"#/properties/tombstone/required",keyword:"required",params:{missingProperty: "coolDown"},message:"must have required property '"+"coolDown"+"'",schema:schema31.properties.tombstone.required,parentSchema:schema31.properties.tombstone,data:data53};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
for(const key14 in data53){
if(!(key14 === "coolDown")){
const err100 = {instancePath:instancePath+"/tombstone",schemaPath:"#/properties/tombstone/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key14},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.tombstone,data:data53};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data53.coolDown !== undefined){
let data54 = data53.coolDown;
if(typeof data54 === "string"){
if(!pattern9.test(data54)){
const err101 = {instancePath:instancePath+"/tombstone/coolDown",schemaPath:"#/properties/tombstone/properties/coolDown/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,4}[mhd]$"},message:"must match pattern \""+"^[1-9][0-9]{0,4}[mhd]$"+"\"",schema:"^[1-9][0-9]{0,4}[mhd]$",parentSchema:schema31.properties.tombstone.properties.coolDown,data:data54};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
else {
const err102 = {instancePath:instancePath+"/tombstone/coolDown",schemaPath:"#/properties/tombstone/properties/coolDown/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.tombstone.properties.coolDown.type,parentSchema:schema31.properties.tombstone.properties.coolDown,data:data54};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
}
else {
const err103 = {instancePath:instancePath+"/tombstone",schemaPath:"#/properties/tombstone/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.tombstone.type,parentSchema:schema31.properties.tombstone,data:data53};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
if(data.onDrift !== undefined){
let data55 = data.onDrift;
if(!((data55 === "revert") || (data55 === "report"))){
const err104 = {instancePath:instancePath+"/onDrift",schemaPath:"#/$defs/onDrift/enum",keyword:"enum",params:{allowedValues: schema32.enum},message:"must be equal to one of the allowed values",schema:schema32.enum,parentSchema:schema32,data:data55};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
if(data.onConflict !== undefined){
let data56 = data.onConflict;
if(!((data56 === "apply") || (data56 === "hold"))){
const err105 = {instancePath:instancePath+"/onConflict",schemaPath:"#/properties/onConflict/enum",keyword:"enum",params:{allowedValues: schema31.properties.onConflict.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.onConflict.enum,parentSchema:schema31.properties.onConflict,data:data56};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
if(data.onLiveKill !== undefined){
let data57 = data.onLiveKill;
if(!((data57 === "keep") || (data57 === "revert"))){
const err106 = {instancePath:instancePath+"/onLiveKill",schemaPath:"#/properties/onLiveKill/enum",keyword:"enum",params:{allowedValues: schema31.properties.onLiveKill.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.onLiveKill.enum,parentSchema:schema31.properties.onLiveKill,data:data57};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
if(data.guards !== undefined){
let data58 = data.guards;
if(data58 && typeof data58 == "object" && !Array.isArray(data58)){
for(const key15 in data58){
if(!(((((key15 === "maxDeletes") || (key15 === "maxDeletePercent")) || (key15 === "maxKeyRemovals")) || (key15 === "maxKeyRemovalPercent")) || (key15 === "maxShift"))){
const err107 = {instancePath:instancePath+"/guards",schemaPath:"#/$defs/guards/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key15},message:"must NOT have additional properties",schema:false,parentSchema:schema33,data:data58};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
}
if(data58.maxDeletes !== undefined){
let data59 = data58.maxDeletes;
if(!(((typeof data59 == "number") && (!(data59 % 1) && !isNaN(data59))) && (isFinite(data59)))){
const err108 = {instancePath:instancePath+"/guards/maxDeletes",schemaPath:"#/$defs/guards/properties/maxDeletes/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxDeletes.type,parentSchema:schema33.properties.maxDeletes,data:data59};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
if((typeof data59 == "number") && (isFinite(data59))){
if(data59 < 0 || isNaN(data59)){
const err109 = {instancePath:instancePath+"/guards/maxDeletes",schemaPath:"#/$defs/guards/properties/maxDeletes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxDeletes,data:data59};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
}
}
if(data58.maxDeletePercent !== undefined){
let data60 = data58.maxDeletePercent;
if(!(((typeof data60 == "number") && (!(data60 % 1) && !isNaN(data60))) && (isFinite(data60)))){
const err110 = {instancePath:instancePath+"/guards/maxDeletePercent",schemaPath:"#/$defs/guards/properties/maxDeletePercent/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxDeletePercent.type,parentSchema:schema33.properties.maxDeletePercent,data:data60};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
if((typeof data60 == "number") && (isFinite(data60))){
if(data60 > 100 || isNaN(data60)){
const err111 = {instancePath:instancePath+"/guards/maxDeletePercent",schemaPath:"#/$defs/guards/properties/maxDeletePercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema33.properties.maxDeletePercent,data:data60};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
if(data60 < 0 || isNaN(data60)){
const err112 = {instancePath:instancePath+"/guards/maxDeletePercent",schemaPath:"#/$defs/guards/properties/maxDeletePercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxDeletePercent,data:data60};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
}
}
if(data58.maxKeyRemovals !== undefined){
let data61 = data58.maxKeyRemovals;
if(!(((typeof data61 == "number") && (!(data61 % 1) && !isNaN(data61))) && (isFinite(data61)))){
const err113 = {instancePath:instancePath+"/guards/maxKeyRemovals",schemaPath:"#/$defs/guards/properties/maxKeyRemovals/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxKeyRemovals.type,parentSchema:schema33.properties.maxKeyRemovals,data:data61};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
if((typeof data61 == "number") && (isFinite(data61))){
if(data61 < 0 || isNaN(data61)){
const err114 = {instancePath:instancePath+"/guards/maxKeyRemovals",schemaPath:"#/$defs/guards/properties/maxKeyRemovals/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxKeyRemovals,data:data61};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
}
if(data58.maxKeyRemovalPercent !== undefined){
let data62 = data58.maxKeyRemovalPercent;
if(!(((typeof data62 == "number") && (!(data62 % 1) && !isNaN(data62))) && (isFinite(data62)))){
const err115 = {instancePath:instancePath+"/guards/maxKeyRemovalPercent",schemaPath:"#/$defs/guards/properties/maxKeyRemovalPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxKeyRemovalPercent.type,parentSchema:schema33.properties.maxKeyRemovalPercent,data:data62};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
if((typeof data62 == "number") && (isFinite(data62))){
if(data62 > 100 || isNaN(data62)){
const err116 = {instancePath:instancePath+"/guards/maxKeyRemovalPercent",schemaPath:"#/$defs/guards/properties/maxKeyRemovalPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema33.properties.maxKeyRemovalPercent,data:data62};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
if(data62 < 0 || isNaN(data62)){
const err117 = {instancePath:instancePath+"/guards/maxKeyRemovalPercent",schemaPath:"#/$defs/guards/properties/maxKeyRemovalPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxKeyRemovalPercent,data:data62};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
}
}
if(data58.maxShift !== undefined){
let data63 = data58.maxShift;
if(!(((typeof data63 == "number") && (!(data63 % 1) && !isNaN(data63))) && (isFinite(data63)))){
const err118 = {instancePath:instancePath+"/guards/maxShift",schemaPath:"#/$defs/guards/properties/maxShift/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema33.properties.maxShift.type,parentSchema:schema33.properties.maxShift,data:data63};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
if((typeof data63 == "number") && (isFinite(data63))){
if(data63 > 100 || isNaN(data63)){
const err119 = {instancePath:instancePath+"/guards/maxShift",schemaPath:"#/$defs/guards/properties/maxShift/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema33.properties.maxShift,data:data63};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
if(data63 < 0 || isNaN(data63)){
const err120 = {instancePath:instancePath+"/guards/maxShift",schemaPath:"#/$defs/guards/properties/maxShift/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema33.properties.maxShift,data:data63};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
}
}
}
else {
const err121 = {instancePath:instancePath+"/guards",schemaPath:"#/$defs/guards/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema33.type,parentSchema:schema33,data:data58};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
}
if(data.suspend !== undefined){
let data64 = data.suspend;
if(typeof data64 !== "boolean"){
const err122 = {instancePath:instancePath+"/suspend",schemaPath:"#/properties/suspend/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema31.properties.suspend.type,parentSchema:schema31.properties.suspend,data:data64};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
if(data.lint !== undefined){
let data65 = data.lint;
if(data65 && typeof data65 == "object" && !Array.isArray(data65)){
for(const key16 in data65){
if(!(func1.call(schema31.properties.lint.properties, key16))){
const err123 = {instancePath:instancePath+"/lint",schemaPath:"#/properties/lint/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key16},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.lint,data:data65};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
}
if(data65.levels !== undefined){
let data66 = data65.levels;
if(data66 && typeof data66 == "object" && !Array.isArray(data66)){
for(const key17 in data66){
if(!(func1.call(schema31.properties.lint.properties.levels.properties, key17))){
const err124 = {instancePath:instancePath+"/lint/levels",schemaPath:"#/properties/lint/properties/levels/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key17},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.lint.properties.levels,data:data66};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
}
if(data66["allow-unknown"] !== undefined){
let data67 = data66["allow-unknown"];
if(!(((data67 === "error") || (data67 === "warning")) || (data67 === "off"))){
const err125 = {instancePath:instancePath+"/lint/levels/allow-unknown",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data67};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
}
if(data66["allow-unused"] !== undefined){
let data68 = data66["allow-unused"];
if(!(((data68 === "error") || (data68 === "warning")) || (data68 === "off"))){
const err126 = {instancePath:instancePath+"/lint/levels/allow-unused",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data68};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
}
if(data66["allow-without-reason"] !== undefined){
let data69 = data66["allow-without-reason"];
if(!(((data69 === "error") || (data69 === "warning")) || (data69 === "off"))){
const err127 = {instancePath:instancePath+"/lint/levels/allow-without-reason",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data69};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
}
if(data66["code-ref-missing"] !== undefined){
let data70 = data66["code-ref-missing"];
if(!(((data70 === "error") || (data70 === "warning")) || (data70 === "off"))){
const err128 = {instancePath:instancePath+"/lint/levels/code-ref-missing",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data70};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
}
if(data66["confusable-names"] !== undefined){
let data71 = data66["confusable-names"];
if(!(((data71 === "error") || (data71 === "warning")) || (data71 === "off"))){
const err129 = {instancePath:instancePath+"/lint/levels/confusable-names",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data71};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
}
if(data66["contradictory-rule"] !== undefined){
let data72 = data66["contradictory-rule"];
if(!(((data72 === "error") || (data72 === "warning")) || (data72 === "off"))){
const err130 = {instancePath:instancePath+"/lint/levels/contradictory-rule",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data72};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
}
if(data66["default-not-safe"] !== undefined){
let data73 = data66["default-not-safe"];
if(!(((data73 === "error") || (data73 === "warning")) || (data73 === "off"))){
const err131 = {instancePath:instancePath+"/lint/levels/default-not-safe",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data73};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
if(data66["default-while-killed"] !== undefined){
let data74 = data66["default-while-killed"];
if(!(((data74 === "error") || (data74 === "warning")) || (data74 === "off"))){
const err132 = {instancePath:instancePath+"/lint/levels/default-while-killed",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data74};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
}
if(data66["duplicate-condition"] !== undefined){
let data75 = data66["duplicate-condition"];
if(!(((data75 === "error") || (data75 === "warning")) || (data75 === "off"))){
const err133 = {instancePath:instancePath+"/lint/levels/duplicate-condition",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data75};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
}
if(data66["duplicate-segment-keys"] !== undefined){
let data76 = data66["duplicate-segment-keys"];
if(!(((data76 === "error") || (data76 === "warning")) || (data76 === "off"))){
const err134 = {instancePath:instancePath+"/lint/levels/duplicate-segment-keys",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data76};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
}
if(data66["empty-segment"] !== undefined){
let data77 = data66["empty-segment"];
if(!(((data77 === "error") || (data77 === "warning")) || (data77 === "off"))){
const err135 = {instancePath:instancePath+"/lint/levels/empty-segment",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data77};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
}
if(data66.expired !== undefined){
let data78 = data66.expired;
if(!(((data78 === "error") || (data78 === "warning")) || (data78 === "off"))){
const err136 = {instancePath:instancePath+"/lint/levels/expired",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data78};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
}
if(data66["expiry-too-late"] !== undefined){
let data79 = data66["expiry-too-late"];
if(!(((data79 === "error") || (data79 === "warning")) || (data79 === "off"))){
const err137 = {instancePath:instancePath+"/lint/levels/expiry-too-late",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data79};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
}
if(data66["full-rollout"] !== undefined){
let data80 = data66["full-rollout"];
if(!(((data80 === "error") || (data80 === "warning")) || (data80 === "off"))){
const err138 = {instancePath:instancePath+"/lint/levels/full-rollout",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data80};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
}
if(data66["invalid-regex"] !== undefined){
let data81 = data66["invalid-regex"];
if(!(((data81 === "error") || (data81 === "warning")) || (data81 === "off"))){
const err139 = {instancePath:instancePath+"/lint/levels/invalid-regex",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data81};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
}
if(data66["kill-review-passed"] !== undefined){
let data82 = data66["kill-review-passed"];
if(!(((data82 === "error") || (data82 === "warning")) || (data82 === "off"))){
const err140 = {instancePath:instancePath+"/lint/levels/kill-review-passed",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data82};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
}
if(data66["kill-too-old"] !== undefined){
let data83 = data66["kill-too-old"];
if(!(((data83 === "error") || (data83 === "warning")) || (data83 === "off"))){
const err141 = {instancePath:instancePath+"/lint/levels/kill-too-old",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data83};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
}
if(data66["many-inline-keys"] !== undefined){
let data84 = data66["many-inline-keys"];
if(!(((data84 === "error") || (data84 === "warning")) || (data84 === "off"))){
const err142 = {instancePath:instancePath+"/lint/levels/many-inline-keys",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data84};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
if(data66["middle-bucket-shift"] !== undefined){
let data85 = data66["middle-bucket-shift"];
if(!(((data85 === "error") || (data85 === "warning")) || (data85 === "off"))){
const err143 = {instancePath:instancePath+"/lint/levels/middle-bucket-shift",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data85};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
}
if(data66["name-pattern"] !== undefined){
let data86 = data66["name-pattern"];
if(!(((data86 === "error") || (data86 === "warning")) || (data86 === "off"))){
const err144 = {instancePath:instancePath+"/lint/levels/name-pattern",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data86};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
}
if(data66["name-reused"] !== undefined){
let data87 = data66["name-reused"];
if(!(((data87 === "error") || (data87 === "warning")) || (data87 === "off"))){
const err145 = {instancePath:instancePath+"/lint/levels/name-reused",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data87};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
errors++;
}
}
if(data66["production-before-staging"] !== undefined){
let data88 = data66["production-before-staging"];
if(!(((data88 === "error") || (data88 === "warning")) || (data88 === "off"))){
const err146 = {instancePath:instancePath+"/lint/levels/production-before-staging",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data88};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
errors++;
}
}
if(data66["ramp-finished"] !== undefined){
let data89 = data66["ramp-finished"];
if(!(((data89 === "error") || (data89 === "warning")) || (data89 === "off"))){
const err147 = {instancePath:instancePath+"/lint/levels/ramp-finished",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data89};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
errors++;
}
}
if(data66["ramp-in-freeze"] !== undefined){
let data90 = data66["ramp-in-freeze"];
if(!(((data90 === "error") || (data90 === "warning")) || (data90 === "off"))){
const err148 = {instancePath:instancePath+"/lint/levels/ramp-in-freeze",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data90};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
errors++;
}
}
if(data66["ramp-past"] !== undefined){
let data91 = data66["ramp-past"];
if(!(((data91 === "error") || (data91 === "warning")) || (data91 === "off"))){
const err149 = {instancePath:instancePath+"/lint/levels/ramp-past",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data91};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
errors++;
}
}
if(data66["required-field"] !== undefined){
let data92 = data66["required-field"];
if(!(((data92 === "error") || (data92 === "warning")) || (data92 === "off"))){
const err150 = {instancePath:instancePath+"/lint/levels/required-field",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data92};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
errors++;
}
}
if(data66["rule-like-default"] !== undefined){
let data93 = data66["rule-like-default"];
if(!(((data93 === "error") || (data93 === "warning")) || (data93 === "off"))){
const err151 = {instancePath:instancePath+"/lint/levels/rule-like-default",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data93};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
errors++;
}
}
if(data66["stale-rollout"] !== undefined){
let data94 = data66["stale-rollout"];
if(!(((data94 === "error") || (data94 === "warning")) || (data94 === "off"))){
const err152 = {instancePath:instancePath+"/lint/levels/stale-rollout",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data94};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
errors++;
}
}
if(data66["stray-file"] !== undefined){
let data95 = data66["stray-file"];
if(!(((data95 === "error") || (data95 === "warning")) || (data95 === "off"))){
const err153 = {instancePath:instancePath+"/lint/levels/stray-file",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data95};
if(vErrors === null){
vErrors = [err153];
}
else {
vErrors.push(err153);
}
errors++;
}
}
if(data66["trailing-space-key"] !== undefined){
let data96 = data66["trailing-space-key"];
if(!(((data96 === "error") || (data96 === "warning")) || (data96 === "off"))){
const err154 = {instancePath:instancePath+"/lint/levels/trailing-space-key",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data96};
if(vErrors === null){
vErrors = [err154];
}
else {
vErrors.push(err154);
}
errors++;
}
}
if(data66["treatments-reordered"] !== undefined){
let data97 = data66["treatments-reordered"];
if(!(((data97 === "error") || (data97 === "warning")) || (data97 === "off"))){
const err155 = {instancePath:instancePath+"/lint/levels/treatments-reordered",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data97};
if(vErrors === null){
vErrors = [err155];
}
else {
vErrors.push(err155);
}
errors++;
}
}
if(data66["unknown-word"] !== undefined){
let data98 = data66["unknown-word"];
if(!(((data98 === "error") || (data98 === "warning")) || (data98 === "off"))){
const err156 = {instancePath:instancePath+"/lint/levels/unknown-word",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data98};
if(vErrors === null){
vErrors = [err156];
}
else {
vErrors.push(err156);
}
errors++;
}
}
if(data66["unreachable-rule"] !== undefined){
let data99 = data66["unreachable-rule"];
if(!(((data99 === "error") || (data99 === "warning")) || (data99 === "off"))){
const err157 = {instancePath:instancePath+"/lint/levels/unreachable-rule",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data99};
if(vErrors === null){
vErrors = [err157];
}
else {
vErrors.push(err157);
}
errors++;
}
}
if(data66["unused-condition"] !== undefined){
let data100 = data66["unused-condition"];
if(!(((data100 === "error") || (data100 === "warning")) || (data100 === "off"))){
const err158 = {instancePath:instancePath+"/lint/levels/unused-condition",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data100};
if(vErrors === null){
vErrors = [err158];
}
else {
vErrors.push(err158);
}
errors++;
}
}
if(data66["unused-segment"] !== undefined){
let data101 = data66["unused-segment"];
if(!(((data101 === "error") || (data101 === "warning")) || (data101 === "off"))){
const err159 = {instancePath:instancePath+"/lint/levels/unused-segment",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data101};
if(vErrors === null){
vErrors = [err159];
}
else {
vErrors.push(err159);
}
errors++;
}
}
if(data66["use-between"] !== undefined){
let data102 = data66["use-between"];
if(!(((data102 === "error") || (data102 === "warning")) || (data102 === "off"))){
const err160 = {instancePath:instancePath+"/lint/levels/use-between",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data102};
if(vErrors === null){
vErrors = [err160];
}
else {
vErrors.push(err160);
}
errors++;
}
}
if(data66["zero-bucket"] !== undefined){
let data103 = data66["zero-bucket"];
if(!(((data103 === "error") || (data103 === "warning")) || (data103 === "off"))){
const err161 = {instancePath:instancePath+"/lint/levels/zero-bucket",schemaPath:"#/$defs/level/enum",keyword:"enum",params:{allowedValues: schema70.enum},message:"must be equal to one of the allowed values",schema:schema70.enum,parentSchema:schema70,data:data103};
if(vErrors === null){
vErrors = [err161];
}
else {
vErrors.push(err161);
}
errors++;
}
}
}
else {
const err162 = {instancePath:instancePath+"/lint/levels",schemaPath:"#/properties/lint/properties/levels/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.lint.properties.levels.type,parentSchema:schema31.properties.lint.properties.levels,data:data66};
if(vErrors === null){
vErrors = [err162];
}
else {
vErrors.push(err162);
}
errors++;
}
}
if(data65.codeReferences !== undefined){
let data104 = data65.codeReferences;
if(Array.isArray(data104)){
if(data104.length < 1){
const err163 = {instancePath:instancePath+"/lint/codeReferences",schemaPath:"#/properties/lint/properties/codeReferences/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema31.properties.lint.properties.codeReferences,data:data104};
if(vErrors === null){
vErrors = [err163];
}
else {
vErrors.push(err163);
}
errors++;
}
const len5 = data104.length;
for(let i5=0; i5<len5; i5++){
let data105 = data104[i5];
if(typeof data105 === "string"){
if(func2(data105) < 1){
const err164 = {instancePath:instancePath+"/lint/codeReferences/" + i5,schemaPath:"#/properties/lint/properties/codeReferences/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.codeReferences.items,data:data105};
if(vErrors === null){
vErrors = [err164];
}
else {
vErrors.push(err164);
}
errors++;
}
}
else {
const err165 = {instancePath:instancePath+"/lint/codeReferences/" + i5,schemaPath:"#/properties/lint/properties/codeReferences/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.codeReferences.items.type,parentSchema:schema31.properties.lint.properties.codeReferences.items,data:data105};
if(vErrors === null){
vErrors = [err165];
}
else {
vErrors.push(err165);
}
errors++;
}
}
}
else {
const err166 = {instancePath:instancePath+"/lint/codeReferences",schemaPath:"#/properties/lint/properties/codeReferences/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.codeReferences.type,parentSchema:schema31.properties.lint.properties.codeReferences,data:data104};
if(vErrors === null){
vErrors = [err166];
}
else {
vErrors.push(err166);
}
errors++;
}
}
if(data65.killsOlderThan !== undefined){
let data106 = data65.killsOlderThan;
if(!(((typeof data106 == "number") && (!(data106 % 1) && !isNaN(data106))) && (isFinite(data106)))){
const err167 = {instancePath:instancePath+"/lint/killsOlderThan",schemaPath:"#/properties/lint/properties/killsOlderThan/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema31.properties.lint.properties.killsOlderThan.type,parentSchema:schema31.properties.lint.properties.killsOlderThan,data:data106};
if(vErrors === null){
vErrors = [err167];
}
else {
vErrors.push(err167);
}
errors++;
}
if((typeof data106 == "number") && (isFinite(data106))){
if(data106 < 1 || isNaN(data106)){
const err168 = {instancePath:instancePath+"/lint/killsOlderThan",schemaPath:"#/properties/lint/properties/killsOlderThan/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema31.properties.lint.properties.killsOlderThan,data:data106};
if(vErrors === null){
vErrors = [err168];
}
else {
vErrors.push(err168);
}
errors++;
}
}
}
if(data65.names !== undefined){
let data107 = data65.names;
if(data107 && typeof data107 == "object" && !Array.isArray(data107)){
for(const key18 in data107){
if(!((((key18 === "flag") || (key18 === "segment")) || (key18 === "treatment")) || (key18 === "tag"))){
const err169 = {instancePath:instancePath+"/lint/names",schemaPath:"#/properties/lint/properties/names/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key18},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.lint.properties.names,data:data107};
if(vErrors === null){
vErrors = [err169];
}
else {
vErrors.push(err169);
}
errors++;
}
}
if(data107.flag !== undefined){
let data108 = data107.flag;
if(typeof data108 === "string"){
if(func2(data108) < 1){
const err170 = {instancePath:instancePath+"/lint/names/flag",schemaPath:"#/properties/lint/properties/names/properties/flag/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.names.properties.flag,data:data108};
if(vErrors === null){
vErrors = [err170];
}
else {
vErrors.push(err170);
}
errors++;
}
}
else {
const err171 = {instancePath:instancePath+"/lint/names/flag",schemaPath:"#/properties/lint/properties/names/properties/flag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.names.properties.flag.type,parentSchema:schema31.properties.lint.properties.names.properties.flag,data:data108};
if(vErrors === null){
vErrors = [err171];
}
else {
vErrors.push(err171);
}
errors++;
}
}
if(data107.segment !== undefined){
let data109 = data107.segment;
if(typeof data109 === "string"){
if(func2(data109) < 1){
const err172 = {instancePath:instancePath+"/lint/names/segment",schemaPath:"#/properties/lint/properties/names/properties/segment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.names.properties.segment,data:data109};
if(vErrors === null){
vErrors = [err172];
}
else {
vErrors.push(err172);
}
errors++;
}
}
else {
const err173 = {instancePath:instancePath+"/lint/names/segment",schemaPath:"#/properties/lint/properties/names/properties/segment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.names.properties.segment.type,parentSchema:schema31.properties.lint.properties.names.properties.segment,data:data109};
if(vErrors === null){
vErrors = [err173];
}
else {
vErrors.push(err173);
}
errors++;
}
}
if(data107.treatment !== undefined){
let data110 = data107.treatment;
if(typeof data110 === "string"){
if(func2(data110) < 1){
const err174 = {instancePath:instancePath+"/lint/names/treatment",schemaPath:"#/properties/lint/properties/names/properties/treatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.names.properties.treatment,data:data110};
if(vErrors === null){
vErrors = [err174];
}
else {
vErrors.push(err174);
}
errors++;
}
}
else {
const err175 = {instancePath:instancePath+"/lint/names/treatment",schemaPath:"#/properties/lint/properties/names/properties/treatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.names.properties.treatment.type,parentSchema:schema31.properties.lint.properties.names.properties.treatment,data:data110};
if(vErrors === null){
vErrors = [err175];
}
else {
vErrors.push(err175);
}
errors++;
}
}
if(data107.tag !== undefined){
let data111 = data107.tag;
if(typeof data111 === "string"){
if(func2(data111) < 1){
const err176 = {instancePath:instancePath+"/lint/names/tag",schemaPath:"#/properties/lint/properties/names/properties/tag/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.names.properties.tag,data:data111};
if(vErrors === null){
vErrors = [err176];
}
else {
vErrors.push(err176);
}
errors++;
}
}
else {
const err177 = {instancePath:instancePath+"/lint/names/tag",schemaPath:"#/properties/lint/properties/names/properties/tag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.names.properties.tag.type,parentSchema:schema31.properties.lint.properties.names.properties.tag,data:data111};
if(vErrors === null){
vErrors = [err177];
}
else {
vErrors.push(err177);
}
errors++;
}
}
}
else {
const err178 = {instancePath:instancePath+"/lint/names",schemaPath:"#/properties/lint/properties/names/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.lint.properties.names.type,parentSchema:schema31.properties.lint.properties.names,data:data107};
if(vErrors === null){
vErrors = [err178];
}
else {
vErrors.push(err178);
}
errors++;
}
}
if(data65.require !== undefined){
let data112 = data65.require;
if(Array.isArray(data112)){
const len6 = data112.length;
for(let i6=0; i6<len6; i6++){
let data113 = data112[i6];
if(!((((((((data113 === "description") || (data113 === "rolloutStatus")) || (data113 === "tags")) || (data113 === "owner")) || (data113 === "kind")) || (data113 === "expires")) || (data113 === "links")) || (data113 === "tests"))){
const err179 = {instancePath:instancePath+"/lint/require/" + i6,schemaPath:"#/properties/lint/properties/require/items/enum",keyword:"enum",params:{allowedValues: schema31.properties.lint.properties.require.items.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.lint.properties.require.items.enum,parentSchema:schema31.properties.lint.properties.require.items,data:data113};
if(vErrors === null){
vErrors = [err179];
}
else {
vErrors.push(err179);
}
errors++;
}
}
}
else {
const err180 = {instancePath:instancePath+"/lint/require",schemaPath:"#/properties/lint/properties/require/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.require.type,parentSchema:schema31.properties.lint.properties.require,data:data112};
if(vErrors === null){
vErrors = [err180];
}
else {
vErrors.push(err180);
}
errors++;
}
}
if(data65.words !== undefined){
let data114 = data65.words;
if(data114 && typeof data114 == "object" && !Array.isArray(data114)){
for(const key19 in data114){
if(!((((key19 === "owner") || (key19 === "kind")) || (key19 === "tags")) || (key19 === "rolloutStatus"))){
const err181 = {instancePath:instancePath+"/lint/words",schemaPath:"#/properties/lint/properties/words/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key19},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.lint.properties.words,data:data114};
if(vErrors === null){
vErrors = [err181];
}
else {
vErrors.push(err181);
}
errors++;
}
}
if(data114.owner !== undefined){
let data115 = data114.owner;
if(Array.isArray(data115)){
const len7 = data115.length;
for(let i7=0; i7<len7; i7++){
let data116 = data115[i7];
if(typeof data116 === "string"){
if(func2(data116) < 1){
const err182 = {instancePath:instancePath+"/lint/words/owner/" + i7,schemaPath:"#/properties/lint/properties/words/properties/owner/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.words.properties.owner.items,data:data116};
if(vErrors === null){
vErrors = [err182];
}
else {
vErrors.push(err182);
}
errors++;
}
}
else {
const err183 = {instancePath:instancePath+"/lint/words/owner/" + i7,schemaPath:"#/properties/lint/properties/words/properties/owner/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.words.properties.owner.items.type,parentSchema:schema31.properties.lint.properties.words.properties.owner.items,data:data116};
if(vErrors === null){
vErrors = [err183];
}
else {
vErrors.push(err183);
}
errors++;
}
}
}
else {
const err184 = {instancePath:instancePath+"/lint/words/owner",schemaPath:"#/properties/lint/properties/words/properties/owner/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.words.properties.owner.type,parentSchema:schema31.properties.lint.properties.words.properties.owner,data:data115};
if(vErrors === null){
vErrors = [err184];
}
else {
vErrors.push(err184);
}
errors++;
}
}
if(data114.kind !== undefined){
let data117 = data114.kind;
if(Array.isArray(data117)){
const len8 = data117.length;
for(let i8=0; i8<len8; i8++){
let data118 = data117[i8];
if(typeof data118 === "string"){
if(func2(data118) < 1){
const err185 = {instancePath:instancePath+"/lint/words/kind/" + i8,schemaPath:"#/properties/lint/properties/words/properties/kind/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.words.properties.kind.items,data:data118};
if(vErrors === null){
vErrors = [err185];
}
else {
vErrors.push(err185);
}
errors++;
}
}
else {
const err186 = {instancePath:instancePath+"/lint/words/kind/" + i8,schemaPath:"#/properties/lint/properties/words/properties/kind/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.words.properties.kind.items.type,parentSchema:schema31.properties.lint.properties.words.properties.kind.items,data:data118};
if(vErrors === null){
vErrors = [err186];
}
else {
vErrors.push(err186);
}
errors++;
}
}
}
else {
const err187 = {instancePath:instancePath+"/lint/words/kind",schemaPath:"#/properties/lint/properties/words/properties/kind/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.words.properties.kind.type,parentSchema:schema31.properties.lint.properties.words.properties.kind,data:data117};
if(vErrors === null){
vErrors = [err187];
}
else {
vErrors.push(err187);
}
errors++;
}
}
if(data114.tags !== undefined){
let data119 = data114.tags;
if(Array.isArray(data119)){
const len9 = data119.length;
for(let i9=0; i9<len9; i9++){
let data120 = data119[i9];
if(typeof data120 === "string"){
if(func2(data120) < 1){
const err188 = {instancePath:instancePath+"/lint/words/tags/" + i9,schemaPath:"#/properties/lint/properties/words/properties/tags/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.words.properties.tags.items,data:data120};
if(vErrors === null){
vErrors = [err188];
}
else {
vErrors.push(err188);
}
errors++;
}
}
else {
const err189 = {instancePath:instancePath+"/lint/words/tags/" + i9,schemaPath:"#/properties/lint/properties/words/properties/tags/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.words.properties.tags.items.type,parentSchema:schema31.properties.lint.properties.words.properties.tags.items,data:data120};
if(vErrors === null){
vErrors = [err189];
}
else {
vErrors.push(err189);
}
errors++;
}
}
}
else {
const err190 = {instancePath:instancePath+"/lint/words/tags",schemaPath:"#/properties/lint/properties/words/properties/tags/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.words.properties.tags.type,parentSchema:schema31.properties.lint.properties.words.properties.tags,data:data119};
if(vErrors === null){
vErrors = [err190];
}
else {
vErrors.push(err190);
}
errors++;
}
}
if(data114.rolloutStatus !== undefined){
let data121 = data114.rolloutStatus;
if(Array.isArray(data121)){
const len10 = data121.length;
for(let i10=0; i10<len10; i10++){
let data122 = data121[i10];
if(typeof data122 === "string"){
if(func2(data122) < 1){
const err191 = {instancePath:instancePath+"/lint/words/rolloutStatus/" + i10,schemaPath:"#/properties/lint/properties/words/properties/rolloutStatus/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.words.properties.rolloutStatus.items,data:data122};
if(vErrors === null){
vErrors = [err191];
}
else {
vErrors.push(err191);
}
errors++;
}
}
else {
const err192 = {instancePath:instancePath+"/lint/words/rolloutStatus/" + i10,schemaPath:"#/properties/lint/properties/words/properties/rolloutStatus/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.words.properties.rolloutStatus.items.type,parentSchema:schema31.properties.lint.properties.words.properties.rolloutStatus.items,data:data122};
if(vErrors === null){
vErrors = [err192];
}
else {
vErrors.push(err192);
}
errors++;
}
}
}
else {
const err193 = {instancePath:instancePath+"/lint/words/rolloutStatus",schemaPath:"#/properties/lint/properties/words/properties/rolloutStatus/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.words.properties.rolloutStatus.type,parentSchema:schema31.properties.lint.properties.words.properties.rolloutStatus,data:data121};
if(vErrors === null){
vErrors = [err193];
}
else {
vErrors.push(err193);
}
errors++;
}
}
}
else {
const err194 = {instancePath:instancePath+"/lint/words",schemaPath:"#/properties/lint/properties/words/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.lint.properties.words.type,parentSchema:schema31.properties.lint.properties.words,data:data114};
if(vErrors === null){
vErrors = [err194];
}
else {
vErrors.push(err194);
}
errors++;
}
}
if(data65.expiresWithin !== undefined){
let data123 = data65.expiresWithin;
if(data123 && typeof data123 == "object" && !Array.isArray(data123)){
for(const key20 in data123){
let data124 = data123[key20];
if(!(((typeof data124 == "number") && (!(data124 % 1) && !isNaN(data124))) && (isFinite(data124)))){
const err195 = {instancePath:instancePath+"/lint/expiresWithin/" + key20.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/lint/properties/expiresWithin/additionalProperties/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema31.properties.lint.properties.expiresWithin.additionalProperties.type,parentSchema:schema31.properties.lint.properties.expiresWithin.additionalProperties,data:data124};
if(vErrors === null){
vErrors = [err195];
}
else {
vErrors.push(err195);
}
errors++;
}
if((typeof data124 == "number") && (isFinite(data124))){
if(data124 < 1 || isNaN(data124)){
const err196 = {instancePath:instancePath+"/lint/expiresWithin/" + key20.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/lint/properties/expiresWithin/additionalProperties/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema31.properties.lint.properties.expiresWithin.additionalProperties,data:data124};
if(vErrors === null){
vErrors = [err196];
}
else {
vErrors.push(err196);
}
errors++;
}
}
}
}
else {
const err197 = {instancePath:instancePath+"/lint/expiresWithin",schemaPath:"#/properties/lint/properties/expiresWithin/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.lint.properties.expiresWithin.type,parentSchema:schema31.properties.lint.properties.expiresWithin,data:data123};
if(vErrors === null){
vErrors = [err197];
}
else {
vErrors.push(err197);
}
errors++;
}
}
if(data65.fullRollout !== undefined){
let data125 = data65.fullRollout;
if(Array.isArray(data125)){
const len11 = data125.length;
for(let i11=0; i11<len11; i11++){
let data126 = data125[i11];
if(typeof data126 === "string"){
if(func2(data126) < 1){
const err198 = {instancePath:instancePath+"/lint/fullRollout/" + i11,schemaPath:"#/properties/lint/properties/fullRollout/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.fullRollout.items,data:data126};
if(vErrors === null){
vErrors = [err198];
}
else {
vErrors.push(err198);
}
errors++;
}
}
else {
const err199 = {instancePath:instancePath+"/lint/fullRollout/" + i11,schemaPath:"#/properties/lint/properties/fullRollout/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.fullRollout.items.type,parentSchema:schema31.properties.lint.properties.fullRollout.items,data:data126};
if(vErrors === null){
vErrors = [err199];
}
else {
vErrors.push(err199);
}
errors++;
}
}
}
else {
const err200 = {instancePath:instancePath+"/lint/fullRollout",schemaPath:"#/properties/lint/properties/fullRollout/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.fullRollout.type,parentSchema:schema31.properties.lint.properties.fullRollout,data:data125};
if(vErrors === null){
vErrors = [err200];
}
else {
vErrors.push(err200);
}
errors++;
}
}
if(data65.provenIn !== undefined){
let data127 = data65.provenIn;
if(Array.isArray(data127)){
if(data127.length < 1){
const err201 = {instancePath:instancePath+"/lint/provenIn",schemaPath:"#/properties/lint/properties/provenIn/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema31.properties.lint.properties.provenIn,data:data127};
if(vErrors === null){
vErrors = [err201];
}
else {
vErrors.push(err201);
}
errors++;
}
const len12 = data127.length;
for(let i12=0; i12<len12; i12++){
let data128 = data127[i12];
if(typeof data128 === "string"){
if(func2(data128) < 1){
const err202 = {instancePath:instancePath+"/lint/provenIn/" + i12,schemaPath:"#/properties/lint/properties/provenIn/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema31.properties.lint.properties.provenIn.items,data:data128};
if(vErrors === null){
vErrors = [err202];
}
else {
vErrors.push(err202);
}
errors++;
}
}
else {
const err203 = {instancePath:instancePath+"/lint/provenIn/" + i12,schemaPath:"#/properties/lint/properties/provenIn/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema31.properties.lint.properties.provenIn.items.type,parentSchema:schema31.properties.lint.properties.provenIn.items,data:data128};
if(vErrors === null){
vErrors = [err203];
}
else {
vErrors.push(err203);
}
errors++;
}
}
}
else {
const err204 = {instancePath:instancePath+"/lint/provenIn",schemaPath:"#/properties/lint/properties/provenIn/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema31.properties.lint.properties.provenIn.type,parentSchema:schema31.properties.lint.properties.provenIn,data:data127};
if(vErrors === null){
vErrors = [err204];
}
else {
vErrors.push(err204);
}
errors++;
}
}
if(data65.reserveNames !== undefined){
let data129 = data65.reserveNames;
if(typeof data129 !== "boolean"){
const err205 = {instancePath:instancePath+"/lint/reserveNames",schemaPath:"#/properties/lint/properties/reserveNames/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema31.properties.lint.properties.reserveNames.type,parentSchema:schema31.properties.lint.properties.reserveNames,data:data129};
if(vErrors === null){
vErrors = [err205];
}
else {
vErrors.push(err205);
}
errors++;
}
}
if(data65.staleAfter !== undefined){
let data130 = data65.staleAfter;
if(!(((typeof data130 == "number") && (!(data130 % 1) && !isNaN(data130))) && (isFinite(data130)))){
const err206 = {instancePath:instancePath+"/lint/staleAfter",schemaPath:"#/properties/lint/properties/staleAfter/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema31.properties.lint.properties.staleAfter.type,parentSchema:schema31.properties.lint.properties.staleAfter,data:data130};
if(vErrors === null){
vErrors = [err206];
}
else {
vErrors.push(err206);
}
errors++;
}
if((typeof data130 == "number") && (isFinite(data130))){
if(data130 < 1 || isNaN(data130)){
const err207 = {instancePath:instancePath+"/lint/staleAfter",schemaPath:"#/properties/lint/properties/staleAfter/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema31.properties.lint.properties.staleAfter,data:data130};
if(vErrors === null){
vErrors = [err207];
}
else {
vErrors.push(err207);
}
errors++;
}
}
}
}
else {
const err208 = {instancePath:instancePath+"/lint",schemaPath:"#/properties/lint/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.lint.type,parentSchema:schema31.properties.lint,data:data65};
if(vErrors === null){
vErrors = [err208];
}
else {
vErrors.push(err208);
}
errors++;
}
}
if(data.state !== undefined){
let data131 = data.state;
if(data131 && typeof data131 == "object" && !Array.isArray(data131)){
for(const key21 in data131){
if(!(key21 === "push")){
const err209 = {instancePath:instancePath+"/state",schemaPath:"#/properties/state/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key21},message:"must NOT have additional properties",schema:false,parentSchema:schema31.properties.state,data:data131};
if(vErrors === null){
vErrors = [err209];
}
else {
vErrors.push(err209);
}
errors++;
}
}
if(data131.push !== undefined){
let data132 = data131.push;
if(!(((data132 === "auto") || (data132 === true)) || (data132 === false))){
const err210 = {instancePath:instancePath+"/state/push",schemaPath:"#/properties/state/properties/push/enum",keyword:"enum",params:{allowedValues: schema31.properties.state.properties.push.enum},message:"must be equal to one of the allowed values",schema:schema31.properties.state.properties.push.enum,parentSchema:schema31.properties.state.properties.push,data:data132};
if(vErrors === null){
vErrors = [err210];
}
else {
vErrors.push(err210);
}
errors++;
}
}
}
else {
const err211 = {instancePath:instancePath+"/state",schemaPath:"#/properties/state/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.properties.state.type,parentSchema:schema31.properties.state,data:data131};
if(vErrors === null){
vErrors = [err211];
}
else {
vErrors.push(err211);
}
errors++;
}
}
}
else {
const err212 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema31.type,parentSchema:schema31,data};
if(vErrors === null){
vErrors = [err212];
}
else {
vErrors.push(err212);
}
errors++;
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

export const flag = validate21;
const schema34 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:flag:1","title":"FlagSpec","description":"One feature flag: flags/**/<flag>.yaml. The file is named like the flag.","type":"object","additionalProperties":false,"required":["flag","treatments","defaultTreatment"],"properties":{"flag":{"description":"Name of the flag: a letter, then letters, digits, '-' and '_'. The file is named like it.","type":"string","minLength":1},"description":{"description":"What the flag is for. Absent: the service's own description is left as it is.","type":"string"},"trafficType":{"description":"Whom the flag is split by, for example user. Set at creation only. Default: defaults.trafficType of flagkeel.yaml.","type":"string","minLength":1},"rolloutStatus":{"description":"Rollout status by name, for example Ramping. Absent: left as the service has it.","type":"string","minLength":1},"tags":{"description":"Tags; a set, order means nothing. Absent: left as the service has them.","type":"array","items":{"type":"string","minLength":1}},"protect":{"description":"true: never deleted, in no environment, until a commit takes this away before the file goes.","type":"boolean"},"owner":{"description":"Who answers for the flag. Local: for lint, CODEOWNERS and reports, never sent.","type":"string","minLength":1},"kind":{"description":"What sort of flag it is, for example release, experiment, operations, permission. Local, never sent.","type":"string","minLength":1},"expires":{"description":"Day (YYYY-MM-DD) after which the flag should be gone. Local, never sent.","type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}$","x-expected":"a day written YYYY-MM-DD"},"links":{"description":"Where to read more: a list of addresses, or addresses by title. Local, never sent.","x-expected":"a list of addresses, or addresses by title","anyOf":[{"type":"array","items":{"type":"string","minLength":1}},{"type":"object","additionalProperties":{"type":"string","minLength":1}}]},"allow":{"description":"Codes of lint rules that this file may break, each with its reason in a comment behind it. Local, never sent.","x-expected":"a code or a list of codes","anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"type":"string","minLength":1}}]},"treatments":{"description":"The flag's treatments, 2 to 20, in bucket order; an environment may replace them.","$ref":"#/$defs/treatments"},"defaultTreatment":{"description":"Treatment that is served where the flag is killed or traffic is not allocated.","type":"string","minLength":1},"baselineTreatment":{"description":"Treatment that metrics compare with. Absent: defaultTreatment at creation, then left as the service has it.","type":"string","minLength":1},"environments":{"description":"Definition by environment, named as in flagkeel.yaml. \"*\" holds what a named environment does not say itself; it enrols none. An environment that is not named is not touched.","type":"object","additionalProperties":{"$ref":"#/$defs/environment"}}},"$defs":{"treatments":{"title":"Treatments","description":"Treatments, 2 to 20: name → description, or the long form. The order is the bucket order.","type":"object","additionalProperties":{"$ref":"#/$defs/treatment"}},"treatment":{"title":"TreatmentSpec","description":"A description, or the long form with description and configuration.","x-expected":"a description, or a mapping with description and configuration","anyOf":[{"type":"string"},{"$ref":"#/$defs/longTreatment"}]},"longTreatment":{"title":"LongTreatment","description":"Long form of a treatment.","type":"object","additionalProperties":false,"properties":{"description":{"description":"What users see who get the treatment. Absent: left as the service has it.","type":"string"},"configuration":{"tsType":"unknown","description":"Any value; the service hands it as JSON text to whoever evaluates the flag. Absent: left as the service has it."}}},"buckets":{"title":"Buckets","description":"A treatment (100 %), sizes by treatment (sent in the order of treatments), or a list with one treatment per entry (sent in the order written).","x-expected":"a treatment, sizes by treatment, or a list with one treatment per entry","anyOf":[{"type":"string","minLength":1},{"$ref":"#/$defs/sizes"},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/listedBucket"}}]},"sizes":{"title":"BucketSizes","description":"Treatment → whole per cent. The sizes sum to 100; one may be rest.","type":"object","minProperties":1,"additionalProperties":{"$ref":"#/$defs/size"}},"listedBucket":{"title":"ListedBucket","description":"One bucket: treatment → whole per cent.","type":"object","minProperties":1,"maxProperties":1,"additionalProperties":{"$ref":"#/$defs/size"}},"size":{"title":"BucketSize","description":"Whole per cent, 0 to 100, or rest: what the others leave.","x-expected":"a whole number from 0 to 100, or rest","anyOf":[{"type":"integer","minimum":0,"maximum":100},{"const":"rest"}]},"texts":{"title":"Texts","description":"A text or a list of texts; a set, order means nothing.","x-expected":"a text or a list of texts","anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}}]},"date":{"title":"DateText","description":"A day (2026-10-03, midnight UTC), a moment (2026-10-03T22:14:00Z), or milliseconds since the epoch.","x-expected":"a day, a moment with its zone, or milliseconds since the epoch","type":["string","integer"]},"numberRange":{"title":"NumberRange","description":"Both ends are inside.","x-expected":"[from, to], or a mapping with from and to","anyOf":[{"type":"array","minItems":2,"maxItems":2,"items":{"type":"number"}},{"type":"object","additionalProperties":false,"required":["from","to"],"properties":{"from":{"description":"Smallest number that matches.","type":"number"},"to":{"description":"Largest number that matches.","type":"number"}}}]},"dateRange":{"title":"DateRange","description":"Both ends are inside.","x-expected":"[from, to], or a mapping with from and to","anyOf":[{"type":"array","minItems":2,"maxItems":2,"items":{"$ref":"#/$defs/date"}},{"type":"object","additionalProperties":false,"required":["from","to"],"properties":{"from":{"description":"First moment that matches.","$ref":"#/$defs/date"},"to":{"description":"Last moment that matches.","$ref":"#/$defs/date"}}}]},"condition":{"title":"ConditionSpec","description":"One matcher: exactly one of segment, flag, matcher, or a comparison of an attribute; or use, for conditions that have a name.","type":"object","minProperties":1,"additionalProperties":false,"properties":{"segment":{"description":"The key is in this segment, which is declared for the environment here or in references.","type":"string","minLength":1},"flag":{"description":"Another flag gives one of `treatments` (IN_SPLIT).","type":"string","minLength":1},"treatments":{"description":"Beside `flag`: treatments of that flag.","type":"array","minItems":1,"items":{"type":"string","minLength":1}},"attribute":{"description":"Attribute that is compared. With in, startsWith, endsWith and contains it may be left out: then the key is compared.","type":"string","minLength":1},"in":{"description":"Is one of these texts.","$ref":"#/$defs/texts"},"startsWith":{"description":"Starts with one of these texts.","$ref":"#/$defs/texts"},"endsWith":{"description":"Ends with one of these texts.","$ref":"#/$defs/texts"},"contains":{"description":"Contains one of these texts.","$ref":"#/$defs/texts"},"matches":{"description":"Matches this regular expression.","type":"string","minLength":1},"is":{"description":"Is true, or is false.","type":"boolean"},"equals":{"description":"Is this number.","type":"number"},"atLeast":{"description":"Is this number or more.","type":"number"},"atMost":{"description":"Is this number or less.","type":"number"},"between":{"description":"Is a number in this range.","$ref":"#/$defs/numberRange"},"on":{"description":"Is a moment of this day.","$ref":"#/$defs/date"},"onOrAfter":{"description":"Is this moment or later.","$ref":"#/$defs/date"},"onOrBefore":{"description":"Is this moment or earlier.","$ref":"#/$defs/date"},"betweenDates":{"description":"Is a moment in this range.","$ref":"#/$defs/dateRange"},"setEquals":{"description":"Is exactly this set.","$ref":"#/$defs/texts"},"setAnyOf":{"description":"Has at least one of these.","$ref":"#/$defs/texts"},"setAllOf":{"description":"Has all of these.","$ref":"#/$defs/texts"},"setPartOf":{"description":"Has nothing but these.","$ref":"#/$defs/texts"},"matcher":{"description":"A matcher as the service has it, passed through untouched.","type":"object","required":["type"],"additionalProperties":true,"properties":{"type":{"description":"The service's name of the matcher, for example EQUAL_TO_SEMVER.","type":"string","minLength":1}}},"use":{"description":"All conditions that flagkeel.yaml has under this name in `conditions`.","type":"string","minLength":1},"not":{"description":"true: matches where the condition does not.","type":"boolean"}}},"conditions":{"title":"Conditions","description":"A condition, or a list of conditions that must all hold.","x-expected":"a condition, or a list of conditions","anyOf":[{"$ref":"#/$defs/condition"},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/condition"}}]},"rule":{"title":"RuleSpec","description":"A targeting rule: whom it is for and what they get.","type":"object","additionalProperties":false,"required":["if","serve"],"properties":{"name":{"description":"For people, tests and diffs; never sent.","type":"string"},"if":{"description":"Whom the rule is for.","$ref":"#/$defs/conditions"},"serve":{"description":"What they get.","$ref":"#/$defs/buckets"},"ramp":{"description":"How `serve` grows by itself.","$ref":"#/$defs/ramp"}}},"ramp":{"title":"RampSpec","description":"Steps by which one treatment grows, beginning with the commit that brings them. The short form is a text of percentages with the times between them: 10, 6h, 25, 1d, 100.","x-expected":"a text such as 10, 6h, 25, 1d, 100, or a mapping with steps","anyOf":[{"type":"string","minLength":1},{"$ref":"#/$defs/longRamp"}]},"longRamp":{"title":"LongRampSpec","description":"Steps by which one treatment grows.","type":"object","additionalProperties":false,"required":["steps"],"properties":{"treatment":{"description":"Which one grows. Default: of two the one that is not defaultTreatment.","type":"string","minLength":1},"start":{"description":"A time with its offset. Default: when the commit that brings the ramp came to the branch.","x-expected":"a time with its offset (a ramp that waits for a pipeline or for another environment has `hold: true` until a commit says `hold: false`)","type":"string","minLength":1},"steps":{"description":"The short form, or a list of steps. Each serves more than the one before.","x-expected":"a text such as 10, 6h, 25, 1d, 100, or a list of steps","anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/rampStep"}}]},"within":{"description":"Name of a window of flagkeel.yaml in which steps are taken, beside those of the environment.","type":"string","minLength":1},"check":{"description":"Names of checks of flagkeel.yaml that have to pass right before each step.","x-expected":"the name of a check, or a list of names","anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"type":"string","minLength":1}}]},"hold":{"description":"true: no step is taken. What is reached stays.","type":"boolean"}}},"rampStep":{"title":"RampStepSpec","description":"One step.","type":"object","additionalProperties":false,"required":["percent"],"properties":{"percent":{"description":"Whole per cent that the treatment gets from then on.","type":"integer","minimum":1,"maximum":100},"at":{"description":"When, a time with its offset.","type":"string","minLength":1},"after":{"description":"How long after the step before, or after the start: 30m, 6h, 1d. A day has 24 hours.","type":"string","pattern":"^[1-9][0-9]{0,4}[mhd]$","x-expected":"a duration such as 30m, 6h or 1d"}}},"allowance":{"title":"AllowanceSpec","description":"A guard that may be passed, and why.","type":"object","additionalProperties":false,"required":["guard","reason"],"properties":{"guard":{"description":"maxShift: more of the traffic than the limit gets another treatment. fullFlip: all of it, in a protected environment.","enum":["maxShift","fullFlip"]},"reason":{"description":"Why, for whoever reviews it and for whoever reads the plan.","type":"string","pattern":"\\S","x-expected":"a reason in words"}}},"environment":{"title":"EnvironmentSpec","description":"The flag's definition in one environment.","type":"object","additionalProperties":false,"properties":{"treatments":{"description":"Replaces the flag's treatments in this environment.","$ref":"#/$defs/treatments"},"defaultTreatment":{"description":"Replaces the flag's in this environment.","type":"string","minLength":1},"baselineTreatment":{"description":"Replaces the flag's in this environment.","type":"string","minLength":1},"trafficAllocation":{"description":"Whole per cent of the traffic that rules see; the others get defaultTreatment. Default 100.","type":"integer","minimum":0,"maximum":100},"targets":{"description":"Individual keys by treatment; sets, order means nothing. Default: none.","type":"object","additionalProperties":{"type":"array","items":{"type":"string","minLength":1}}},"rules":{"description":"Targeting rules; the first that matches wins. Default: none.","type":"array","items":{"$ref":"#/$defs/rule"}},"defaultRule":{"description":"What those get whom no target and no rule concerns. Required in a named environment.","$ref":"#/$defs/buckets"},"ramp":{"description":"How `defaultRule` grows by itself.","$ref":"#/$defs/ramp"},"killed":{"description":"true: everybody gets defaultTreatment, at once. false: git says it is not killed. Absent: git has no opinion.","type":"boolean"},"allow":{"description":"Guards that this change of the definition may pass, each with a reason. An entry counts for the change that it came with, and for no later one.","type":"array","minItems":1,"items":{"$ref":"#/$defs/allowance"}},"unmanaged":{"description":"Fields that are taken from the live value and never written after creation.","type":"array","items":{"enum":["treatments","targets","defaultTreatment","baselineTreatment","trafficAllocation","rules","defaultRule","killed"]}}}}}};
const pattern8 = new RegExp("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "u");
const schema35 = {"title":"Treatments","description":"Treatments, 2 to 20: name → description, or the long form. The order is the bucket order.","type":"object","additionalProperties":{"$ref":"#/$defs/treatment"}};
const schema36 = {"title":"TreatmentSpec","description":"A description, or the long form with description and configuration.","x-expected":"a description, or a mapping with description and configuration","anyOf":[{"type":"string"},{"$ref":"#/$defs/longTreatment"}]};
const schema37 = {"title":"LongTreatment","description":"Long form of a treatment.","type":"object","additionalProperties":false,"properties":{"description":{"description":"What users see who get the treatment. Absent: left as the service has it.","type":"string"},"configuration":{"tsType":"unknown","description":"Any value; the service hands it as JSON text to whoever evaluates the flag. Absent: left as the service has it."}}};

function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate23.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(typeof data !== "string"){
const err0 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema36.anyOf[0].type,parentSchema:schema36.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
const _errs3 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "description") || (key0 === "configuration"))){
const err1 = {instancePath,schemaPath:"#/$defs/longTreatment/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.description !== undefined){
let data0 = data.description;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/description",schemaPath:"#/$defs/longTreatment/properties/description/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema37.properties.description.type,parentSchema:schema37.properties.description,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/$defs/longTreatment/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema37.type,parentSchema:schema37,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
if(!valid0){
const err4 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema36.anyOf,parentSchema:schema36,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate23.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate23.evaluated = {"dynamicProps":true,"dynamicItems":false};


function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate22.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(validate23(data[key0], {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data,parentDataProperty:key0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
}
}
else {
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema35.type,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate22.errors = vErrors;
return errors === 0;
}
validate22.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema38 = {"title":"EnvironmentSpec","description":"The flag's definition in one environment.","type":"object","additionalProperties":false,"properties":{"treatments":{"description":"Replaces the flag's treatments in this environment.","$ref":"#/$defs/treatments"},"defaultTreatment":{"description":"Replaces the flag's in this environment.","type":"string","minLength":1},"baselineTreatment":{"description":"Replaces the flag's in this environment.","type":"string","minLength":1},"trafficAllocation":{"description":"Whole per cent of the traffic that rules see; the others get defaultTreatment. Default 100.","type":"integer","minimum":0,"maximum":100},"targets":{"description":"Individual keys by treatment; sets, order means nothing. Default: none.","type":"object","additionalProperties":{"type":"array","items":{"type":"string","minLength":1}}},"rules":{"description":"Targeting rules; the first that matches wins. Default: none.","type":"array","items":{"$ref":"#/$defs/rule"}},"defaultRule":{"description":"What those get whom no target and no rule concerns. Required in a named environment.","$ref":"#/$defs/buckets"},"ramp":{"description":"How `defaultRule` grows by itself.","$ref":"#/$defs/ramp"},"killed":{"description":"true: everybody gets defaultTreatment, at once. false: git says it is not killed. Absent: git has no opinion.","type":"boolean"},"allow":{"description":"Guards that this change of the definition may pass, each with a reason. An entry counts for the change that it came with, and for no later one.","type":"array","minItems":1,"items":{"$ref":"#/$defs/allowance"}},"unmanaged":{"description":"Fields that are taken from the live value and never written after creation.","type":"array","items":{"enum":["treatments","targets","defaultTreatment","baselineTreatment","trafficAllocation","rules","defaultRule","killed"]}}}};
const schema66 = {"title":"AllowanceSpec","description":"A guard that may be passed, and why.","type":"object","additionalProperties":false,"required":["guard","reason"],"properties":{"guard":{"description":"maxShift: more of the traffic than the limit gets another treatment. fullFlip: all of it, in a protected environment.","enum":["maxShift","fullFlip"]},"reason":{"description":"Why, for whoever reviews it and for whoever reads the plan.","type":"string","pattern":"\\S","x-expected":"a reason in words"}}};
const schema39 = {"title":"RuleSpec","description":"A targeting rule: whom it is for and what they get.","type":"object","additionalProperties":false,"required":["if","serve"],"properties":{"name":{"description":"For people, tests and diffs; never sent.","type":"string"},"if":{"description":"Whom the rule is for.","$ref":"#/$defs/conditions"},"serve":{"description":"What they get.","$ref":"#/$defs/buckets"},"ramp":{"description":"How `serve` grows by itself.","$ref":"#/$defs/ramp"}}};

function validate29(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate29.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(!(validate30(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
const _errs2 = errors;
if(Array.isArray(data)){
if(data.length < 1){
const err0 = {instancePath,schemaPath:"#/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema40.anyOf[1],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
if(!(validate30(data[i0], {instancePath:instancePath+"/" + i0,parentData:data,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate30.errors : vErrors.concat(validate30.errors);
errors = vErrors.length;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema40.anyOf[1].type,parentSchema:schema40.anyOf[1],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs2 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var items0 = true;
}
if(!valid0){
const err2 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema40.anyOf,parentSchema:schema40,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate29.errors = vErrors;
evaluated0.props = props0;
evaluated0.items = items0;
return errors === 0;
}
validate29.evaluated = {"dynamicProps":true,"dynamicItems":true};

const schema58 = {"title":"Buckets","description":"A treatment (100 %), sizes by treatment (sent in the order of treatments), or a list with one treatment per entry (sent in the order written).","x-expected":"a treatment, sizes by treatment, or a list with one treatment per entry","anyOf":[{"type":"string","minLength":1},{"$ref":"#/$defs/sizes"},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/listedBucket"}}]};
const schema59 = {"title":"BucketSizes","description":"Treatment → whole per cent. The sizes sum to 100; one may be rest.","type":"object","minProperties":1,"additionalProperties":{"$ref":"#/$defs/size"}};
const schema60 = {"title":"BucketSize","description":"Whole per cent, 0 to 100, or rest: what the others leave.","x-expected":"a whole number from 0 to 100, or rest","anyOf":[{"type":"integer","minimum":0,"maximum":100},{"const":"rest"}]};

function validate37(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate37.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length < 1){
const err0 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema59,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
let data0 = data[key0];
const _errs4 = errors;
let valid2 = false;
const _errs5 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err1 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema60.anyOf[0].type,parentSchema:schema60.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 100 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema60.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0 < 0 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema60.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
valid2 = valid2 || _valid0;
const _errs7 = errors;
if("rest" !== data0){
const err4 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/1/const",keyword:"const",params:{allowedValue: "rest"},message:"must be equal to constant",schema:"rest",parentSchema:schema60.anyOf[1],data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
var _valid0 = _errs7 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const err5 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema60.anyOf,parentSchema:schema60,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
else {
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err6 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema59.type,parentSchema:schema59,data};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
validate37.errors = vErrors;
return errors === 0;
}
validate37.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema61 = {"title":"ListedBucket","description":"One bucket: treatment → whole per cent.","type":"object","minProperties":1,"maxProperties":1,"additionalProperties":{"$ref":"#/$defs/size"}};

function validate39(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate39.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(Object.keys(data).length > 1){
const err0 = {instancePath,schemaPath:"#/maxProperties",keyword:"maxProperties",params:{limit: 1},message:"must NOT have more than 1 properties",schema:1,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(Object.keys(data).length < 1){
const err1 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
let data0 = data[key0];
const _errs4 = errors;
let valid2 = false;
const _errs5 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err2 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema60.anyOf[0].type,parentSchema:schema60.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 100 || isNaN(data0)){
const err3 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema60.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(data0 < 0 || isNaN(data0)){
const err4 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema60.anyOf[0],data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid0 = _errs5 === errors;
valid2 = valid2 || _valid0;
const _errs7 = errors;
if("rest" !== data0){
const err5 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf/1/const",keyword:"const",params:{allowedValue: "rest"},message:"must be equal to constant",schema:"rest",parentSchema:schema60.anyOf[1],data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
var _valid0 = _errs7 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const err6 = {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/$defs/size/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema60.anyOf,parentSchema:schema60,data:data0};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
else {
errors = _errs4;
if(vErrors !== null){
if(_errs4){
vErrors.length = _errs4;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err7 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema61.type,parentSchema:schema61,data};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
validate39.errors = vErrors;
return errors === 0;
}
validate39.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate36(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate36.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(typeof data === "string"){
if(func2(data) < 1){
const err0 = {instancePath,schemaPath:"#/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema58.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema58.anyOf[0].type,parentSchema:schema58.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
const _errs3 = errors;
if(!(validate37(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
const _errs4 = errors;
if(Array.isArray(data)){
if(data.length < 1){
const err2 = {instancePath,schemaPath:"#/anyOf/2/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema58.anyOf[2],data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
if(!(validate39(data[i0], {instancePath:instancePath+"/" + i0,parentData:data,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate39.errors : vErrors.concat(validate39.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/anyOf/2/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema58.anyOf[2].type,parentSchema:schema58.anyOf[2],data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs4 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var items0 = true;
}
if(!valid0){
const err4 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema58.anyOf,parentSchema:schema58,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate36.errors = vErrors;
evaluated0.props = props0;
evaluated0.items = items0;
return errors === 0;
}
validate36.evaluated = {"dynamicProps":true,"dynamicItems":true};

const schema63 = {"title":"RampSpec","description":"Steps by which one treatment grows, beginning with the commit that brings them. The short form is a text of percentages with the times between them: 10, 6h, 25, 1d, 100.","x-expected":"a text such as 10, 6h, 25, 1d, 100, or a mapping with steps","anyOf":[{"type":"string","minLength":1},{"$ref":"#/$defs/longRamp"}]};
const schema64 = {"title":"LongRampSpec","description":"Steps by which one treatment grows.","type":"object","additionalProperties":false,"required":["steps"],"properties":{"treatment":{"description":"Which one grows. Default: of two the one that is not defaultTreatment.","type":"string","minLength":1},"start":{"description":"A time with its offset. Default: when the commit that brings the ramp came to the branch.","x-expected":"a time with its offset (a ramp that waits for a pipeline or for another environment has `hold: true` until a commit says `hold: false`)","type":"string","minLength":1},"steps":{"description":"The short form, or a list of steps. Each serves more than the one before.","x-expected":"a text such as 10, 6h, 25, 1d, 100, or a list of steps","anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"$ref":"#/$defs/rampStep"}}]},"within":{"description":"Name of a window of flagkeel.yaml in which steps are taken, beside those of the environment.","type":"string","minLength":1},"check":{"description":"Names of checks of flagkeel.yaml that have to pass right before each step.","x-expected":"the name of a check, or a list of names","anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"type":"string","minLength":1}}]},"hold":{"description":"true: no step is taken. What is reached stays.","type":"boolean"}}};
const schema65 = {"title":"RampStepSpec","description":"One step.","type":"object","additionalProperties":false,"required":["percent"],"properties":{"percent":{"description":"Whole per cent that the treatment gets from then on.","type":"integer","minimum":1,"maximum":100},"at":{"description":"When, a time with its offset.","type":"string","minLength":1},"after":{"description":"How long after the step before, or after the start: 30m, 6h, 1d. A day has 24 hours.","type":"string","pattern":"^[1-9][0-9]{0,4}[mhd]$","x-expected":"a duration such as 30m, 6h or 1d"}}};

function validate43(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate43.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.steps === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "steps"},message:"must have required property '"+"steps"+"'",schema:schema64.required,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "treatment") || (key0 === "start")) || (key0 === "steps")) || (key0 === "within")) || (key0 === "check")) || (key0 === "hold"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.treatment !== undefined){
let data0 = data.treatment;
if(typeof data0 === "string"){
if(func2(data0) < 1){
const err2 = {instancePath:instancePath+"/treatment",schemaPath:"#/properties/treatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema64.properties.treatment,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/treatment",schemaPath:"#/properties/treatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.treatment.type,parentSchema:schema64.properties.treatment,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.start !== undefined){
let data1 = data.start;
if(typeof data1 === "string"){
if(func2(data1) < 1){
const err4 = {instancePath:instancePath+"/start",schemaPath:"#/properties/start/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema64.properties.start,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/start",schemaPath:"#/properties/start/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.start.type,parentSchema:schema64.properties.start,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.steps !== undefined){
let data2 = data.steps;
const _errs7 = errors;
let valid1 = false;
const _errs8 = errors;
if(typeof data2 === "string"){
if(func2(data2) < 1){
const err6 = {instancePath:instancePath+"/steps",schemaPath:"#/properties/steps/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema64.properties.steps.anyOf[0],data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/steps",schemaPath:"#/properties/steps/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.steps.anyOf[0].type,parentSchema:schema64.properties.steps.anyOf[0],data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
var _valid0 = _errs8 === errors;
valid1 = valid1 || _valid0;
const _errs10 = errors;
if(Array.isArray(data2)){
if(data2.length < 1){
const err8 = {instancePath:instancePath+"/steps",schemaPath:"#/properties/steps/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema64.properties.steps.anyOf[1],data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
const len0 = data2.length;
for(let i0=0; i0<len0; i0++){
let data3 = data2[i0];
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
if(data3.percent === undefined){
const err9 = {instancePath:instancePath+"/steps/" + i0,schemaPath:"#/$defs/rampStep/required",keyword:"required",params:{missingProperty: "percent"},message:"must have required property '"+"percent"+"'",schema:schema65.required,parentSchema:schema65,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
for(const key1 in data3){
if(!(((key1 === "percent") || (key1 === "at")) || (key1 === "after"))){
const err10 = {instancePath:instancePath+"/steps/" + i0,schemaPath:"#/$defs/rampStep/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema65,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data3.percent !== undefined){
let data4 = data3.percent;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err11 = {instancePath:instancePath+"/steps/" + i0+"/percent",schemaPath:"#/$defs/rampStep/properties/percent/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema65.properties.percent.type,parentSchema:schema65.properties.percent,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 100 || isNaN(data4)){
const err12 = {instancePath:instancePath+"/steps/" + i0+"/percent",schemaPath:"#/$defs/rampStep/properties/percent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema65.properties.percent,data:data4};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err13 = {instancePath:instancePath+"/steps/" + i0+"/percent",schemaPath:"#/$defs/rampStep/properties/percent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema65.properties.percent,data:data4};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
if(data3.at !== undefined){
let data5 = data3.at;
if(typeof data5 === "string"){
if(func2(data5) < 1){
const err14 = {instancePath:instancePath+"/steps/" + i0+"/at",schemaPath:"#/$defs/rampStep/properties/at/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema65.properties.at,data:data5};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/steps/" + i0+"/at",schemaPath:"#/$defs/rampStep/properties/at/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema65.properties.at.type,parentSchema:schema65.properties.at,data:data5};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data3.after !== undefined){
let data6 = data3.after;
if(typeof data6 === "string"){
if(!pattern9.test(data6)){
const err16 = {instancePath:instancePath+"/steps/" + i0+"/after",schemaPath:"#/$defs/rampStep/properties/after/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,4}[mhd]$"},message:"must match pattern \""+"^[1-9][0-9]{0,4}[mhd]$"+"\"",schema:"^[1-9][0-9]{0,4}[mhd]$",parentSchema:schema65.properties.after,data:data6};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
else {
const err17 = {instancePath:instancePath+"/steps/" + i0+"/after",schemaPath:"#/$defs/rampStep/properties/after/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema65.properties.after.type,parentSchema:schema65.properties.after,data:data6};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
else {
const err18 = {instancePath:instancePath+"/steps/" + i0,schemaPath:"#/$defs/rampStep/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema65.type,parentSchema:schema65,data:data3};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
else {
const err19 = {instancePath:instancePath+"/steps",schemaPath:"#/properties/steps/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema64.properties.steps.anyOf[1].type,parentSchema:schema64.properties.steps.anyOf[1],data:data2};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
var _valid0 = _errs10 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const err20 = {instancePath:instancePath+"/steps",schemaPath:"#/properties/steps/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema64.properties.steps.anyOf,parentSchema:schema64.properties.steps,data:data2};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
else {
errors = _errs7;
if(vErrors !== null){
if(_errs7){
vErrors.length = _errs7;
}
else {
vErrors = null;
}
}
}
}
if(data.within !== undefined){
let data7 = data.within;
if(typeof data7 === "string"){
if(func2(data7) < 1){
const err21 = {instancePath:instancePath+"/within",schemaPath:"#/properties/within/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema64.properties.within,data:data7};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
else {
const err22 = {instancePath:instancePath+"/within",schemaPath:"#/properties/within/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.within.type,parentSchema:schema64.properties.within,data:data7};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.check !== undefined){
let data8 = data.check;
const _errs25 = errors;
let valid6 = false;
const _errs26 = errors;
if(typeof data8 === "string"){
if(func2(data8) < 1){
const err23 = {instancePath:instancePath+"/check",schemaPath:"#/properties/check/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema64.properties.check.anyOf[0],data:data8};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
else {
const err24 = {instancePath:instancePath+"/check",schemaPath:"#/properties/check/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.check.anyOf[0].type,parentSchema:schema64.properties.check.anyOf[0],data:data8};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
var _valid1 = _errs26 === errors;
valid6 = valid6 || _valid1;
const _errs28 = errors;
if(Array.isArray(data8)){
if(data8.length < 1){
const err25 = {instancePath:instancePath+"/check",schemaPath:"#/properties/check/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema64.properties.check.anyOf[1],data:data8};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
let data9 = data8[i1];
if(typeof data9 === "string"){
if(func2(data9) < 1){
const err26 = {instancePath:instancePath+"/check/" + i1,schemaPath:"#/properties/check/anyOf/1/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema64.properties.check.anyOf[1].items,data:data9};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
else {
const err27 = {instancePath:instancePath+"/check/" + i1,schemaPath:"#/properties/check/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema64.properties.check.anyOf[1].items.type,parentSchema:schema64.properties.check.anyOf[1].items,data:data9};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
else {
const err28 = {instancePath:instancePath+"/check",schemaPath:"#/properties/check/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema64.properties.check.anyOf[1].type,parentSchema:schema64.properties.check.anyOf[1],data:data8};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
var _valid1 = _errs28 === errors;
valid6 = valid6 || _valid1;
if(!valid6){
const err29 = {instancePath:instancePath+"/check",schemaPath:"#/properties/check/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema64.properties.check.anyOf,parentSchema:schema64.properties.check,data:data8};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
else {
errors = _errs25;
if(vErrors !== null){
if(_errs25){
vErrors.length = _errs25;
}
else {
vErrors = null;
}
}
}
}
if(data.hold !== undefined){
let data10 = data.hold;
if(typeof data10 !== "boolean"){
const err30 = {instancePath:instancePath+"/hold",schemaPath:"#/properties/hold/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema64.properties.hold.type,parentSchema:schema64.properties.hold,data:data10};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
else {
const err31 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema64.type,parentSchema:schema64,data};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
validate43.errors = vErrors;
return errors === 0;
}
validate43.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate42(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate42.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(typeof data === "string"){
if(func2(data) < 1){
const err0 = {instancePath,schemaPath:"#/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema63.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.anyOf[0].type,parentSchema:schema63.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
const _errs3 = errors;
if(!(validate43(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate43.errors : vErrors.concat(validate43.errors);
errors = vErrors.length;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
if(!valid0){
const err2 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema63.anyOf,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate42.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate42.evaluated = {"dynamicProps":true,"dynamicItems":false};


function validate28(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate28.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.if === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "if"},message:"must have required property '"+"if"+"'",schema:schema39.required,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.serve === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "serve"},message:"must have required property '"+"serve"+"'",schema:schema39.required,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((((key0 === "name") || (key0 === "if")) || (key0 === "serve")) || (key0 === "ramp"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 !== "string"){
const err3 = {instancePath:instancePath+"/name",schemaPath:"#/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema39.properties.name.type,parentSchema:schema39.properties.name,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.if !== undefined){
if(!(validate29(data.if, {instancePath:instancePath+"/if",parentData:data,parentDataProperty:"if",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate29.errors : vErrors.concat(validate29.errors);
errors = vErrors.length;
}
}
if(data.serve !== undefined){
if(!(validate36(data.serve, {instancePath:instancePath+"/serve",parentData:data,parentDataProperty:"serve",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.ramp !== undefined){
if(!(validate42(data.ramp, {instancePath:instancePath+"/ramp",parentData:data,parentDataProperty:"ramp",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema39.type,parentSchema:schema39,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate28.errors = vErrors;
return errors === 0;
}
validate28.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const pattern10 = new RegExp("\\S", "u");

function validate26(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate26.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(func1.call(schema38.properties, key0))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.treatments !== undefined){
if(!(validate22(data.treatments, {instancePath:instancePath+"/treatments",parentData:data,parentDataProperty:"treatments",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate22.errors : vErrors.concat(validate22.errors);
errors = vErrors.length;
}
}
if(data.defaultTreatment !== undefined){
let data1 = data.defaultTreatment;
if(typeof data1 === "string"){
if(func2(data1) < 1){
const err1 = {instancePath:instancePath+"/defaultTreatment",schemaPath:"#/properties/defaultTreatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema38.properties.defaultTreatment,data:data1};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
else {
const err2 = {instancePath:instancePath+"/defaultTreatment",schemaPath:"#/properties/defaultTreatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.defaultTreatment.type,parentSchema:schema38.properties.defaultTreatment,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.baselineTreatment !== undefined){
let data2 = data.baselineTreatment;
if(typeof data2 === "string"){
if(func2(data2) < 1){
const err3 = {instancePath:instancePath+"/baselineTreatment",schemaPath:"#/properties/baselineTreatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema38.properties.baselineTreatment,data:data2};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/baselineTreatment",schemaPath:"#/properties/baselineTreatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.baselineTreatment.type,parentSchema:schema38.properties.baselineTreatment,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.trafficAllocation !== undefined){
let data3 = data.trafficAllocation;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
const err5 = {instancePath:instancePath+"/trafficAllocation",schemaPath:"#/properties/trafficAllocation/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema38.properties.trafficAllocation.type,parentSchema:schema38.properties.trafficAllocation,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 100 || isNaN(data3)){
const err6 = {instancePath:instancePath+"/trafficAllocation",schemaPath:"#/properties/trafficAllocation/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema38.properties.trafficAllocation,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data3 < 0 || isNaN(data3)){
const err7 = {instancePath:instancePath+"/trafficAllocation",schemaPath:"#/properties/trafficAllocation/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema38.properties.trafficAllocation,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
if(data.targets !== undefined){
let data4 = data.targets;
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
for(const key1 in data4){
let data5 = data4[key1];
if(Array.isArray(data5)){
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
let data6 = data5[i0];
if(typeof data6 === "string"){
if(func2(data6) < 1){
const err8 = {instancePath:instancePath+"/targets/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i0,schemaPath:"#/properties/targets/additionalProperties/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema38.properties.targets.additionalProperties.items,data:data6};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/targets/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i0,schemaPath:"#/properties/targets/additionalProperties/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema38.properties.targets.additionalProperties.items.type,parentSchema:schema38.properties.targets.additionalProperties.items,data:data6};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath:instancePath+"/targets/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/targets/additionalProperties/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema38.properties.targets.additionalProperties.type,parentSchema:schema38.properties.targets.additionalProperties,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath:instancePath+"/targets",schemaPath:"#/properties/targets/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema38.properties.targets.type,parentSchema:schema38.properties.targets,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.rules !== undefined){
let data7 = data.rules;
if(Array.isArray(data7)){
const len1 = data7.length;
for(let i1=0; i1<len1; i1++){
if(!(validate28(data7[i1], {instancePath:instancePath+"/rules/" + i1,parentData:data7,parentDataProperty:i1,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors);
errors = vErrors.length;
}
}
}
else {
const err12 = {instancePath:instancePath+"/rules",schemaPath:"#/properties/rules/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema38.properties.rules.type,parentSchema:schema38.properties.rules,data:data7};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.defaultRule !== undefined){
if(!(validate36(data.defaultRule, {instancePath:instancePath+"/defaultRule",parentData:data,parentDataProperty:"defaultRule",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate36.errors : vErrors.concat(validate36.errors);
errors = vErrors.length;
}
}
if(data.ramp !== undefined){
if(!(validate42(data.ramp, {instancePath:instancePath+"/ramp",parentData:data,parentDataProperty:"ramp",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate42.errors : vErrors.concat(validate42.errors);
errors = vErrors.length;
}
}
if(data.killed !== undefined){
let data11 = data.killed;
if(typeof data11 !== "boolean"){
const err13 = {instancePath:instancePath+"/killed",schemaPath:"#/properties/killed/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema38.properties.killed.type,parentSchema:schema38.properties.killed,data:data11};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.allow !== undefined){
let data12 = data.allow;
if(Array.isArray(data12)){
if(data12.length < 1){
const err14 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema38.properties.allow,data:data12};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
const len2 = data12.length;
for(let i2=0; i2<len2; i2++){
let data13 = data12[i2];
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
if(data13.guard === undefined){
const err15 = {instancePath:instancePath+"/allow/" + i2,schemaPath:"#/$defs/allowance/required",keyword:"required",params:{missingProperty: "guard"},message:"must have required property '"+"guard"+"'",schema:schema66.required,parentSchema:schema66,data:data13};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
if(data13.reason === undefined){
const err16 = {instancePath:instancePath+"/allow/" + i2,schemaPath:"#/$defs/allowance/required",keyword:"required",params:{missingProperty: "reason"},message:"must have required property '"+"reason"+"'",schema:schema66.required,parentSchema:schema66,data:data13};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
for(const key2 in data13){
if(!((key2 === "guard") || (key2 === "reason"))){
const err17 = {instancePath:instancePath+"/allow/" + i2,schemaPath:"#/$defs/allowance/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema66,data:data13};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data13.guard !== undefined){
let data14 = data13.guard;
if(!((data14 === "maxShift") || (data14 === "fullFlip"))){
const err18 = {instancePath:instancePath+"/allow/" + i2+"/guard",schemaPath:"#/$defs/allowance/properties/guard/enum",keyword:"enum",params:{allowedValues: schema66.properties.guard.enum},message:"must be equal to one of the allowed values",schema:schema66.properties.guard.enum,parentSchema:schema66.properties.guard,data:data14};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data13.reason !== undefined){
let data15 = data13.reason;
if(typeof data15 === "string"){
if(!pattern10.test(data15)){
const err19 = {instancePath:instancePath+"/allow/" + i2+"/reason",schemaPath:"#/$defs/allowance/properties/reason/pattern",keyword:"pattern",params:{pattern: "\\S"},message:"must match pattern \""+"\\S"+"\"",schema:"\\S",parentSchema:schema66.properties.reason,data:data15};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
else {
const err20 = {instancePath:instancePath+"/allow/" + i2+"/reason",schemaPath:"#/$defs/allowance/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.reason.type,parentSchema:schema66.properties.reason,data:data15};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath:instancePath+"/allow/" + i2,schemaPath:"#/$defs/allowance/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.type,parentSchema:schema66,data:data13};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
else {
const err22 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema38.properties.allow.type,parentSchema:schema38.properties.allow,data:data12};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.unmanaged !== undefined){
let data16 = data.unmanaged;
if(Array.isArray(data16)){
const len3 = data16.length;
for(let i3=0; i3<len3; i3++){
let data17 = data16[i3];
if(!((((((((data17 === "treatments") || (data17 === "targets")) || (data17 === "defaultTreatment")) || (data17 === "baselineTreatment")) || (data17 === "trafficAllocation")) || (data17 === "rules")) || (data17 === "defaultRule")) || (data17 === "killed"))){
const err23 = {instancePath:instancePath+"/unmanaged/" + i3,schemaPath:"#/properties/unmanaged/items/enum",keyword:"enum",params:{allowedValues: schema38.properties.unmanaged.items.enum},message:"must be equal to one of the allowed values",schema:schema38.properties.unmanaged.items.enum,parentSchema:schema38.properties.unmanaged.items,data:data17};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
else {
const err24 = {instancePath:instancePath+"/unmanaged",schemaPath:"#/properties/unmanaged/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema38.properties.unmanaged.type,parentSchema:schema38.properties.unmanaged,data:data16};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
}
else {
const err25 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema38.type,parentSchema:schema38,data};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
validate26.errors = vErrors;
return errors === 0;
}
validate26.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};


function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:flag:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate21.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.flag === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "flag"},message:"must have required property '"+"flag"+"'",schema:schema34.required,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.treatments === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "treatments"},message:"must have required property '"+"treatments"+"'",schema:schema34.required,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.defaultTreatment === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "defaultTreatment"},message:"must have required property '"+"defaultTreatment"+"'",schema:schema34.required,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema34.properties, key0))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.flag !== undefined){
let data0 = data.flag;
if(typeof data0 === "string"){
if(func2(data0) < 1){
const err4 = {instancePath:instancePath+"/flag",schemaPath:"#/properties/flag/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.flag,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/flag",schemaPath:"#/properties/flag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.flag.type,parentSchema:schema34.properties.flag,data:data0};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.description !== undefined){
let data1 = data.description;
if(typeof data1 !== "string"){
const err6 = {instancePath:instancePath+"/description",schemaPath:"#/properties/description/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.description.type,parentSchema:schema34.properties.description,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.trafficType !== undefined){
let data2 = data.trafficType;
if(typeof data2 === "string"){
if(func2(data2) < 1){
const err7 = {instancePath:instancePath+"/trafficType",schemaPath:"#/properties/trafficType/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.trafficType,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/trafficType",schemaPath:"#/properties/trafficType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.trafficType.type,parentSchema:schema34.properties.trafficType,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.rolloutStatus !== undefined){
let data3 = data.rolloutStatus;
if(typeof data3 === "string"){
if(func2(data3) < 1){
const err9 = {instancePath:instancePath+"/rolloutStatus",schemaPath:"#/properties/rolloutStatus/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.rolloutStatus,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/rolloutStatus",schemaPath:"#/properties/rolloutStatus/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.rolloutStatus.type,parentSchema:schema34.properties.rolloutStatus,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.tags !== undefined){
let data4 = data.tags;
if(Array.isArray(data4)){
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
if(typeof data5 === "string"){
if(func2(data5) < 1){
const err11 = {instancePath:instancePath+"/tags/" + i0,schemaPath:"#/properties/tags/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.tags.items,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/tags/" + i0,schemaPath:"#/properties/tags/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.tags.items.type,parentSchema:schema34.properties.tags.items,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema34.properties.tags.type,parentSchema:schema34.properties.tags,data:data4};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.protect !== undefined){
let data6 = data.protect;
if(typeof data6 !== "boolean"){
const err14 = {instancePath:instancePath+"/protect",schemaPath:"#/properties/protect/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema34.properties.protect.type,parentSchema:schema34.properties.protect,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data.owner !== undefined){
let data7 = data.owner;
if(typeof data7 === "string"){
if(func2(data7) < 1){
const err15 = {instancePath:instancePath+"/owner",schemaPath:"#/properties/owner/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.owner,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
else {
const err16 = {instancePath:instancePath+"/owner",schemaPath:"#/properties/owner/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.owner.type,parentSchema:schema34.properties.owner,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.kind !== undefined){
let data8 = data.kind;
if(typeof data8 === "string"){
if(func2(data8) < 1){
const err17 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.kind,data:data8};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
else {
const err18 = {instancePath:instancePath+"/kind",schemaPath:"#/properties/kind/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.kind.type,parentSchema:schema34.properties.kind,data:data8};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.expires !== undefined){
let data9 = data.expires;
if(typeof data9 === "string"){
if(!pattern8.test(data9)){
const err19 = {instancePath:instancePath+"/expires",schemaPath:"#/properties/expires/pattern",keyword:"pattern",params:{pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},message:"must match pattern \""+"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"+"\"",schema:"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",parentSchema:schema34.properties.expires,data:data9};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
else {
const err20 = {instancePath:instancePath+"/expires",schemaPath:"#/properties/expires/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.expires.type,parentSchema:schema34.properties.expires,data:data9};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.links !== undefined){
let data10 = data.links;
const _errs23 = errors;
let valid3 = false;
const _errs24 = errors;
if(Array.isArray(data10)){
const len1 = data10.length;
for(let i1=0; i1<len1; i1++){
let data11 = data10[i1];
if(typeof data11 === "string"){
if(func2(data11) < 1){
const err21 = {instancePath:instancePath+"/links/" + i1,schemaPath:"#/properties/links/anyOf/0/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.links.anyOf[0].items,data:data11};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
else {
const err22 = {instancePath:instancePath+"/links/" + i1,schemaPath:"#/properties/links/anyOf/0/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.links.anyOf[0].items.type,parentSchema:schema34.properties.links.anyOf[0].items,data:data11};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath:instancePath+"/links",schemaPath:"#/properties/links/anyOf/0/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema34.properties.links.anyOf[0].type,parentSchema:schema34.properties.links.anyOf[0],data:data10};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
var _valid0 = _errs24 === errors;
valid3 = valid3 || _valid0;
const _errs28 = errors;
if(data10 && typeof data10 == "object" && !Array.isArray(data10)){
for(const key1 in data10){
let data12 = data10[key1];
if(typeof data12 === "string"){
if(func2(data12) < 1){
const err24 = {instancePath:instancePath+"/links/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/links/anyOf/1/additionalProperties/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.links.anyOf[1].additionalProperties,data:data12};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/links/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/links/anyOf/1/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.links.anyOf[1].additionalProperties.type,parentSchema:schema34.properties.links.anyOf[1].additionalProperties,data:data12};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath:instancePath+"/links",schemaPath:"#/properties/links/anyOf/1/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema34.properties.links.anyOf[1].type,parentSchema:schema34.properties.links.anyOf[1],data:data10};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
var _valid0 = _errs28 === errors;
valid3 = valid3 || _valid0;
if(!valid3){
const err27 = {instancePath:instancePath+"/links",schemaPath:"#/properties/links/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema34.properties.links.anyOf,parentSchema:schema34.properties.links,data:data10};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
else {
errors = _errs23;
if(vErrors !== null){
if(_errs23){
vErrors.length = _errs23;
}
else {
vErrors = null;
}
}
}
}
if(data.allow !== undefined){
let data13 = data.allow;
const _errs34 = errors;
let valid7 = false;
const _errs35 = errors;
if(typeof data13 === "string"){
if(func2(data13) < 1){
const err28 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.allow.anyOf[0],data:data13};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
else {
const err29 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.allow.anyOf[0].type,parentSchema:schema34.properties.allow.anyOf[0],data:data13};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
var _valid1 = _errs35 === errors;
valid7 = valid7 || _valid1;
const _errs37 = errors;
if(Array.isArray(data13)){
if(data13.length < 1){
const err30 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema34.properties.allow.anyOf[1],data:data13};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
const len2 = data13.length;
for(let i2=0; i2<len2; i2++){
let data14 = data13[i2];
if(typeof data14 === "string"){
if(func2(data14) < 1){
const err31 = {instancePath:instancePath+"/allow/" + i2,schemaPath:"#/properties/allow/anyOf/1/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.allow.anyOf[1].items,data:data14};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
else {
const err32 = {instancePath:instancePath+"/allow/" + i2,schemaPath:"#/properties/allow/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.allow.anyOf[1].items.type,parentSchema:schema34.properties.allow.anyOf[1].items,data:data14};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema34.properties.allow.anyOf[1].type,parentSchema:schema34.properties.allow.anyOf[1],data:data13};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
var _valid1 = _errs37 === errors;
valid7 = valid7 || _valid1;
if(!valid7){
const err34 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema34.properties.allow.anyOf,parentSchema:schema34.properties.allow,data:data13};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
else {
errors = _errs34;
if(vErrors !== null){
if(_errs34){
vErrors.length = _errs34;
}
else {
vErrors = null;
}
}
}
}
if(data.treatments !== undefined){
if(!(validate22(data.treatments, {instancePath:instancePath+"/treatments",parentData:data,parentDataProperty:"treatments",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate22.errors : vErrors.concat(validate22.errors);
errors = vErrors.length;
}
}
if(data.defaultTreatment !== undefined){
let data16 = data.defaultTreatment;
if(typeof data16 === "string"){
if(func2(data16) < 1){
const err35 = {instancePath:instancePath+"/defaultTreatment",schemaPath:"#/properties/defaultTreatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.defaultTreatment,data:data16};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
else {
const err36 = {instancePath:instancePath+"/defaultTreatment",schemaPath:"#/properties/defaultTreatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.defaultTreatment.type,parentSchema:schema34.properties.defaultTreatment,data:data16};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data.baselineTreatment !== undefined){
let data17 = data.baselineTreatment;
if(typeof data17 === "string"){
if(func2(data17) < 1){
const err37 = {instancePath:instancePath+"/baselineTreatment",schemaPath:"#/properties/baselineTreatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema34.properties.baselineTreatment,data:data17};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
else {
const err38 = {instancePath:instancePath+"/baselineTreatment",schemaPath:"#/properties/baselineTreatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema34.properties.baselineTreatment.type,parentSchema:schema34.properties.baselineTreatment,data:data17};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data.environments !== undefined){
let data18 = data.environments;
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
for(const key2 in data18){
if(!(validate26(data18[key2], {instancePath:instancePath+"/environments/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data18,parentDataProperty:key2,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate26.errors : vErrors.concat(validate26.errors);
errors = vErrors.length;
}
}
}
else {
const err39 = {instancePath:instancePath+"/environments",schemaPath:"#/properties/environments/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema34.properties.environments.type,parentSchema:schema34.properties.environments,data:data18};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
else {
const err40 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema34.type,parentSchema:schema34,data};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
validate21.errors = vErrors;
return errors === 0;
}
validate21.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

export const flagOverlay = validate54;
const schema107 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:flag-overlay:1","title":"FlagOverlaySpec","description":"One environment's block of a flag by itself: flags/**/<flag>@<environment>.yaml.","type":"object","additionalProperties":false,"required":["flag","environment"],"properties":{"flag":{"description":"Name of the flag, which has a file of its own.","type":"string","minLength":1},"environment":{"description":"Name of the environment, as in flagkeel.yaml.","type":"string","minLength":1},"treatments":{"description":"Replaces the flag's treatments in this environment.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/treatments"},"defaultTreatment":{"description":"Replaces the flag's in this environment.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/defaultTreatment"},"baselineTreatment":{"description":"Replaces the flag's in this environment.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/baselineTreatment"},"trafficAllocation":{"description":"Whole per cent of the traffic that rules see; the others get defaultTreatment. Default 100.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/trafficAllocation"},"targets":{"description":"Individual keys by treatment; sets, order means nothing. Default: none.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/targets"},"rules":{"description":"Targeting rules; the first that matches wins. Default: none.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/rules"},"defaultRule":{"description":"What those get whom no target and no rule concerns. Required in a named environment.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/defaultRule"},"ramp":{"description":"How `defaultRule` grows by itself.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/ramp"},"killed":{"description":"true: everybody gets defaultTreatment, at once. false: git says it is not killed. Absent: git has no opinion.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/killed"},"allow":{"description":"Guards that this change of the definition may pass, each with a reason. An entry counts for the change that it came with, and for no later one.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/allow"},"unmanaged":{"description":"Fields that are taken from the live value and never written after creation.","$ref":"urn:flagkeel:schema:flag:1#/$defs/environment/properties/unmanaged"}}};
const schema109 = {"description":"Replaces the flag's in this environment.","type":"string","minLength":1};
const schema110 = {"description":"Replaces the flag's in this environment.","type":"string","minLength":1};
const schema111 = {"description":"Whole per cent of the traffic that rules see; the others get defaultTreatment. Default 100.","type":"integer","minimum":0,"maximum":100};
const schema112 = {"description":"Individual keys by treatment; sets, order means nothing. Default: none.","type":"object","additionalProperties":{"type":"array","items":{"type":"string","minLength":1}}};
const schema116 = {"description":"true: everybody gets defaultTreatment, at once. false: git says it is not killed. Absent: git has no opinion.","type":"boolean"};
const schema119 = {"description":"Fields that are taken from the live value and never written after creation.","type":"array","items":{"enum":["treatments","targets","defaultTreatment","baselineTreatment","trafficAllocation","rules","defaultRule","killed"]}};

function validate55(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate55.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(validate23(data[key0], {instancePath:instancePath+"/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data,parentDataProperty:key0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
}
}
else {
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema35.type,parentSchema:schema35,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate55.errors = vErrors;
return errors === 0;
}
validate55.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

const schema113 = {"description":"Targeting rules; the first that matches wins. Default: none.","type":"array","items":{"$ref":"#/$defs/rule"}};

function validate58(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate58.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(Array.isArray(data)){
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
if(!(validate28(data[i0], {instancePath:instancePath+"/" + i0,parentData:data,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate28.errors : vErrors.concat(validate28.errors);
errors = vErrors.length;
}
}
}
else {
const err0 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema113.type,parentSchema:schema113,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
validate58.errors = vErrors;
return errors === 0;
}
validate58.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};


function validate61(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate61.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(typeof data === "string"){
if(func2(data) < 1){
const err0 = {instancePath,schemaPath:"#/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema58.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema58.anyOf[0].type,parentSchema:schema58.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
const _errs3 = errors;
if(!(validate37(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate37.errors : vErrors.concat(validate37.errors);
errors = vErrors.length;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
const _errs4 = errors;
if(Array.isArray(data)){
if(data.length < 1){
const err2 = {instancePath,schemaPath:"#/anyOf/2/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema58.anyOf[2],data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
if(!(validate39(data[i0], {instancePath:instancePath+"/" + i0,parentData:data,parentDataProperty:i0,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate39.errors : vErrors.concat(validate39.errors);
errors = vErrors.length;
}
}
}
else {
const err3 = {instancePath,schemaPath:"#/anyOf/2/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema58.anyOf[2].type,parentSchema:schema58.anyOf[2],data};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs4 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var items0 = true;
}
if(!valid0){
const err4 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema58.anyOf,parentSchema:schema58,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate61.errors = vErrors;
evaluated0.props = props0;
evaluated0.items = items0;
return errors === 0;
}
validate61.evaluated = {"dynamicProps":true,"dynamicItems":true};


function validate65(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate65.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
const _errs0 = errors;
let valid0 = false;
const _errs1 = errors;
if(typeof data === "string"){
if(func2(data) < 1){
const err0 = {instancePath,schemaPath:"#/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema63.anyOf[0],data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath,schemaPath:"#/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema63.anyOf[0].type,parentSchema:schema63.anyOf[0],data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
var _valid0 = _errs1 === errors;
valid0 = valid0 || _valid0;
const _errs3 = errors;
if(!(validate43(data, {instancePath,parentData,parentDataProperty,rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate43.errors : vErrors.concat(validate43.errors);
errors = vErrors.length;
}
var _valid0 = _errs3 === errors;
valid0 = valid0 || _valid0;
if(_valid0){
var props0 = true;
}
if(!valid0){
const err2 = {instancePath,schemaPath:"#/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema63.anyOf,parentSchema:schema63,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs0;
if(vErrors !== null){
if(_errs0){
vErrors.length = _errs0;
}
else {
vErrors = null;
}
}
}
validate65.errors = vErrors;
evaluated0.props = props0;
return errors === 0;
}
validate65.evaluated = {"dynamicProps":true,"dynamicItems":false};

const schema117 = {"description":"Guards that this change of the definition may pass, each with a reason. An entry counts for the change that it came with, and for no later one.","type":"array","minItems":1,"items":{"$ref":"#/$defs/allowance"}};

function validate68(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate68.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(Array.isArray(data)){
if(data.length < 1){
const err0 = {instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema117,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(data0.guard === undefined){
const err1 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/allowance/required",keyword:"required",params:{missingProperty: "guard"},message:"must have required property '"+"guard"+"'",schema:schema66.required,parentSchema:schema66,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data0.reason === undefined){
const err2 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/allowance/required",keyword:"required",params:{missingProperty: "reason"},message:"must have required property '"+"reason"+"'",schema:schema66.required,parentSchema:schema66,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data0){
if(!((key0 === "guard") || (key0 === "reason"))){
const err3 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/allowance/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema66,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data0.guard !== undefined){
let data1 = data0.guard;
if(!((data1 === "maxShift") || (data1 === "fullFlip"))){
const err4 = {instancePath:instancePath+"/" + i0+"/guard",schemaPath:"#/$defs/allowance/properties/guard/enum",keyword:"enum",params:{allowedValues: schema66.properties.guard.enum},message:"must be equal to one of the allowed values",schema:schema66.properties.guard.enum,parentSchema:schema66.properties.guard,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data0.reason !== undefined){
let data2 = data0.reason;
if(typeof data2 === "string"){
if(!pattern10.test(data2)){
const err5 = {instancePath:instancePath+"/" + i0+"/reason",schemaPath:"#/$defs/allowance/properties/reason/pattern",keyword:"pattern",params:{pattern: "\\S"},message:"must match pattern \""+"\\S"+"\"",schema:"\\S",parentSchema:schema66.properties.reason,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/" + i0+"/reason",schemaPath:"#/$defs/allowance/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema66.properties.reason.type,parentSchema:schema66.properties.reason,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
else {
const err7 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/allowance/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema66.type,parentSchema:schema66,data:data0};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema117.type,parentSchema:schema117,data};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate68.errors = vErrors;
return errors === 0;
}
validate68.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};


function validate54(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:flag-overlay:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate54.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.flag === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "flag"},message:"must have required property '"+"flag"+"'",schema:schema107.required,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.environment === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "environment"},message:"must have required property '"+"environment"+"'",schema:schema107.required,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!(func1.call(schema107.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.flag !== undefined){
let data0 = data.flag;
if(typeof data0 === "string"){
if(func2(data0) < 1){
const err3 = {instancePath:instancePath+"/flag",schemaPath:"#/properties/flag/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema107.properties.flag,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/flag",schemaPath:"#/properties/flag/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema107.properties.flag.type,parentSchema:schema107.properties.flag,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.environment !== undefined){
let data1 = data.environment;
if(typeof data1 === "string"){
if(func2(data1) < 1){
const err5 = {instancePath:instancePath+"/environment",schemaPath:"#/properties/environment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema107.properties.environment,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/environment",schemaPath:"#/properties/environment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema107.properties.environment.type,parentSchema:schema107.properties.environment,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.treatments !== undefined){
if(!(validate55(data.treatments, {instancePath:instancePath+"/treatments",parentData:data,parentDataProperty:"treatments",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate55.errors : vErrors.concat(validate55.errors);
errors = vErrors.length;
}
}
if(data.defaultTreatment !== undefined){
let data3 = data.defaultTreatment;
if(typeof data3 === "string"){
if(func2(data3) < 1){
const err7 = {instancePath:instancePath+"/defaultTreatment",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/defaultTreatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema109,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/defaultTreatment",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/defaultTreatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema109.type,parentSchema:schema109,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.baselineTreatment !== undefined){
let data4 = data.baselineTreatment;
if(typeof data4 === "string"){
if(func2(data4) < 1){
const err9 = {instancePath:instancePath+"/baselineTreatment",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/baselineTreatment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema110,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
else {
const err10 = {instancePath:instancePath+"/baselineTreatment",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/baselineTreatment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema110.type,parentSchema:schema110,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.trafficAllocation !== undefined){
let data5 = data.trafficAllocation;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err11 = {instancePath:instancePath+"/trafficAllocation",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/trafficAllocation/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema111.type,parentSchema:schema111,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 100 || isNaN(data5)){
const err12 = {instancePath:instancePath+"/trafficAllocation",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/trafficAllocation/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema111,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(data5 < 0 || isNaN(data5)){
const err13 = {instancePath:instancePath+"/trafficAllocation",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/trafficAllocation/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema111,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
if(data.targets !== undefined){
let data6 = data.targets;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
for(const key1 in data6){
let data7 = data6[key1];
if(Array.isArray(data7)){
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
if(typeof data8 === "string"){
if(func2(data8) < 1){
const err14 = {instancePath:instancePath+"/targets/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i0,schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/targets/additionalProperties/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema112.additionalProperties.items,data:data8};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/targets/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i0,schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/targets/additionalProperties/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema112.additionalProperties.items.type,parentSchema:schema112.additionalProperties.items,data:data8};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath:instancePath+"/targets/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/targets/additionalProperties/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema112.additionalProperties.type,parentSchema:schema112.additionalProperties,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
else {
const err17 = {instancePath:instancePath+"/targets",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/targets/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema112.type,parentSchema:schema112,data:data6};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.rules !== undefined){
if(!(validate58(data.rules, {instancePath:instancePath+"/rules",parentData:data,parentDataProperty:"rules",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate58.errors : vErrors.concat(validate58.errors);
errors = vErrors.length;
}
}
if(data.defaultRule !== undefined){
if(!(validate61(data.defaultRule, {instancePath:instancePath+"/defaultRule",parentData:data,parentDataProperty:"defaultRule",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate61.errors : vErrors.concat(validate61.errors);
errors = vErrors.length;
}
}
if(data.ramp !== undefined){
if(!(validate65(data.ramp, {instancePath:instancePath+"/ramp",parentData:data,parentDataProperty:"ramp",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
errors = vErrors.length;
}
}
if(data.killed !== undefined){
let data12 = data.killed;
if(typeof data12 !== "boolean"){
const err18 = {instancePath:instancePath+"/killed",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/killed/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema116.type,parentSchema:schema116,data:data12};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.allow !== undefined){
if(!(validate68(data.allow, {instancePath:instancePath+"/allow",parentData:data,parentDataProperty:"allow",rootData,dynamicAnchors}))){
vErrors = vErrors === null ? validate68.errors : vErrors.concat(validate68.errors);
errors = vErrors.length;
}
}
if(data.unmanaged !== undefined){
let data14 = data.unmanaged;
if(Array.isArray(data14)){
const len1 = data14.length;
for(let i1=0; i1<len1; i1++){
let data15 = data14[i1];
if(!((((((((data15 === "treatments") || (data15 === "targets")) || (data15 === "defaultTreatment")) || (data15 === "baselineTreatment")) || (data15 === "trafficAllocation")) || (data15 === "rules")) || (data15 === "defaultRule")) || (data15 === "killed"))){
const err19 = {instancePath:instancePath+"/unmanaged/" + i1,schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/unmanaged/items/enum",keyword:"enum",params:{allowedValues: schema119.items.enum},message:"must be equal to one of the allowed values",schema:schema119.items.enum,parentSchema:schema119.items,data:data15};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
}
else {
const err20 = {instancePath:instancePath+"/unmanaged",schemaPath:"urn:flagkeel:schema:flag:1#/$defs/environment/properties/unmanaged/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema119.type,parentSchema:schema119,data:data14};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
}
else {
const err21 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema107.type,parentSchema:schema107,data};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
validate54.errors = vErrors;
return errors === 0;
}
validate54.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

export const segment = validate70;
const schema120 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:segment:1","title":"SegmentSpec","description":"One segment: segments/**/<segment>.yaml. The file is named like the segment.","type":"object","additionalProperties":false,"required":["segment"],"properties":{"segment":{"description":"Name of the segment. The file is named like it.","type":"string","minLength":1},"description":{"description":"What the segment is for. Set at creation only: the service cannot change it.","type":"string"},"trafficType":{"description":"Whose keys it holds, for example user. Set at creation only. Default: defaults.trafficType of flagkeel.yaml.","type":"string","minLength":1},"protect":{"description":"true: never deleted, in no environment, until a commit takes this away before the file goes.","type":"boolean"},"allow":{"description":"Codes of lint rules that this file may break, each with its reason in a comment behind it. Local, never sent.","x-expected":"a code or a list of codes","anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"type":"string","minLength":1}}]},"environments":{"description":"Activation and keys by environment, named as in flagkeel.yaml. An environment that is not named is not touched.","type":"object","additionalProperties":{"title":"ActivationSpec","description":"The segment in one environment. Without keys and keysFile only the activation is ours; [] is an empty segment.","type":"object","additionalProperties":false,"properties":{"mode":{"description":"exact (default): the keys are these. add-only: at least these. external: only the segment and its activation are ours.","enum":["exact","add-only","external"]},"keys":{"description":"Keys; a set, order means nothing. Added to those of keysFile.","type":"array","items":{"type":"string","minLength":1}},"keysFile":{"description":"Path of a plain text file with one key per line, relative to this file.","type":"string","minLength":1}}}}}};

function validate70(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:segment:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate70.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.segment === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "segment"},message:"must have required property '"+"segment"+"'",schema:schema120.required,parentSchema:schema120,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!((((((key0 === "segment") || (key0 === "description")) || (key0 === "trafficType")) || (key0 === "protect")) || (key0 === "allow")) || (key0 === "environments"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema120,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.segment !== undefined){
let data0 = data.segment;
if(typeof data0 === "string"){
if(func2(data0) < 1){
const err2 = {instancePath:instancePath+"/segment",schemaPath:"#/properties/segment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema120.properties.segment,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
else {
const err3 = {instancePath:instancePath+"/segment",schemaPath:"#/properties/segment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.segment.type,parentSchema:schema120.properties.segment,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.description !== undefined){
let data1 = data.description;
if(typeof data1 !== "string"){
const err4 = {instancePath:instancePath+"/description",schemaPath:"#/properties/description/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.description.type,parentSchema:schema120.properties.description,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.trafficType !== undefined){
let data2 = data.trafficType;
if(typeof data2 === "string"){
if(func2(data2) < 1){
const err5 = {instancePath:instancePath+"/trafficType",schemaPath:"#/properties/trafficType/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema120.properties.trafficType,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/trafficType",schemaPath:"#/properties/trafficType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.trafficType.type,parentSchema:schema120.properties.trafficType,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.protect !== undefined){
let data3 = data.protect;
if(typeof data3 !== "boolean"){
const err7 = {instancePath:instancePath+"/protect",schemaPath:"#/properties/protect/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema120.properties.protect.type,parentSchema:schema120.properties.protect,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.allow !== undefined){
let data4 = data.allow;
const _errs11 = errors;
let valid1 = false;
const _errs12 = errors;
if(typeof data4 === "string"){
if(func2(data4) < 1){
const err8 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema120.properties.allow.anyOf[0],data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.allow.anyOf[0].type,parentSchema:schema120.properties.allow.anyOf[0],data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
var _valid0 = _errs12 === errors;
valid1 = valid1 || _valid0;
const _errs14 = errors;
if(Array.isArray(data4)){
if(data4.length < 1){
const err10 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema120.properties.allow.anyOf[1],data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
const len0 = data4.length;
for(let i0=0; i0<len0; i0++){
let data5 = data4[i0];
if(typeof data5 === "string"){
if(func2(data5) < 1){
const err11 = {instancePath:instancePath+"/allow/" + i0,schemaPath:"#/properties/allow/anyOf/1/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema120.properties.allow.anyOf[1].items,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/allow/" + i0,schemaPath:"#/properties/allow/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.allow.anyOf[1].items.type,parentSchema:schema120.properties.allow.anyOf[1].items,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema120.properties.allow.anyOf[1].type,parentSchema:schema120.properties.allow.anyOf[1],data:data4};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
var _valid0 = _errs14 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const err14 = {instancePath:instancePath+"/allow",schemaPath:"#/properties/allow/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema120.properties.allow.anyOf,parentSchema:schema120.properties.allow,data:data4};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
else {
errors = _errs11;
if(vErrors !== null){
if(_errs11){
vErrors.length = _errs11;
}
else {
vErrors = null;
}
}
}
}
if(data.environments !== undefined){
let data6 = data.environments;
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
for(const key1 in data6){
let data7 = data6[key1];
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
for(const key2 in data7){
if(!(((key2 === "mode") || (key2 === "keys")) || (key2 === "keysFile"))){
const err15 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/environments/additionalProperties/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema120.properties.environments.additionalProperties,data:data7};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data7.mode !== undefined){
let data8 = data7.mode;
if(!(((data8 === "exact") || (data8 === "add-only")) || (data8 === "external"))){
const err16 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/mode",schemaPath:"#/properties/environments/additionalProperties/properties/mode/enum",keyword:"enum",params:{allowedValues: schema120.properties.environments.additionalProperties.properties.mode.enum},message:"must be equal to one of the allowed values",schema:schema120.properties.environments.additionalProperties.properties.mode.enum,parentSchema:schema120.properties.environments.additionalProperties.properties.mode,data:data8};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data7.keys !== undefined){
let data9 = data7.keys;
if(Array.isArray(data9)){
const len1 = data9.length;
for(let i1=0; i1<len1; i1++){
let data10 = data9[i1];
if(typeof data10 === "string"){
if(func2(data10) < 1){
const err17 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/keys/" + i1,schemaPath:"#/properties/environments/additionalProperties/properties/keys/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema120.properties.environments.additionalProperties.properties.keys.items,data:data10};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
else {
const err18 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/keys/" + i1,schemaPath:"#/properties/environments/additionalProperties/properties/keys/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.environments.additionalProperties.properties.keys.items.type,parentSchema:schema120.properties.environments.additionalProperties.properties.keys.items,data:data10};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
else {
const err19 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/keys",schemaPath:"#/properties/environments/additionalProperties/properties/keys/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema120.properties.environments.additionalProperties.properties.keys.type,parentSchema:schema120.properties.environments.additionalProperties.properties.keys,data:data9};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data7.keysFile !== undefined){
let data11 = data7.keysFile;
if(typeof data11 === "string"){
if(func2(data11) < 1){
const err20 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/keysFile",schemaPath:"#/properties/environments/additionalProperties/properties/keysFile/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema120.properties.environments.additionalProperties.properties.keysFile,data:data11};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
else {
const err21 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/keysFile",schemaPath:"#/properties/environments/additionalProperties/properties/keysFile/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema120.properties.environments.additionalProperties.properties.keysFile.type,parentSchema:schema120.properties.environments.additionalProperties.properties.keysFile,data:data11};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
else {
const err22 = {instancePath:instancePath+"/environments/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/environments/additionalProperties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema120.properties.environments.additionalProperties.type,parentSchema:schema120.properties.environments.additionalProperties,data:data7};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
else {
const err23 = {instancePath:instancePath+"/environments",schemaPath:"#/properties/environments/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema120.properties.environments.type,parentSchema:schema120.properties.environments,data:data6};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
else {
const err24 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema120.type,parentSchema:schema120,data};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
validate70.errors = vErrors;
return errors === 0;
}
validate70.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

export const identities = validate71;
const schema121 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:identities:1","title":"IdentitiesSpec","description":"Keys with attributes: identities/**/*.yaml.","type":"object","additionalProperties":false,"required":["identities"],"properties":{"identities":{"description":"Identities of one traffic type in one environment.","type":"object","additionalProperties":false,"required":["environment","keys"],"properties":{"trafficType":{"description":"Whose keys these are, for example user. Default: defaults.trafficType of flagkeel.yaml.","type":"string","minLength":1},"environment":{"description":"Name of the environment, as in flagkeel.yaml.","type":"string","minLength":1},"keys":{"description":"Key → attribute → value. Values are texts.","type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"string"}}}}}}};

function validate71(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:identities:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate71.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.identities === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "identities"},message:"must have required property '"+"identities"+"'",schema:schema121.required,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "identities")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.identities !== undefined){
let data0 = data.identities;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
if(data0.environment === undefined){
const err2 = {instancePath:instancePath+"/identities",schemaPath:"#/properties/identities/required",keyword:"required",params:{missingProperty: "environment"},message:"must have required property '"+"environment"+"'",schema:schema121.properties.identities.required,parentSchema:schema121.properties.identities,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0.keys === undefined){
const err3 = {instancePath:instancePath+"/identities",schemaPath:"#/properties/identities/required",keyword:"required",params:{missingProperty: "keys"},message:"must have required property '"+"keys"+"'",schema:schema121.properties.identities.required,parentSchema:schema121.properties.identities,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
for(const key1 in data0){
if(!(((key1 === "trafficType") || (key1 === "environment")) || (key1 === "keys"))){
const err4 = {instancePath:instancePath+"/identities",schemaPath:"#/properties/identities/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema121.properties.identities,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data0.trafficType !== undefined){
let data1 = data0.trafficType;
if(typeof data1 === "string"){
if(func2(data1) < 1){
const err5 = {instancePath:instancePath+"/identities/trafficType",schemaPath:"#/properties/identities/properties/trafficType/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema121.properties.identities.properties.trafficType,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/identities/trafficType",schemaPath:"#/properties/identities/properties/trafficType/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema121.properties.identities.properties.trafficType.type,parentSchema:schema121.properties.identities.properties.trafficType,data:data1};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data0.environment !== undefined){
let data2 = data0.environment;
if(typeof data2 === "string"){
if(func2(data2) < 1){
const err7 = {instancePath:instancePath+"/identities/environment",schemaPath:"#/properties/identities/properties/environment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema121.properties.identities.properties.environment,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/identities/environment",schemaPath:"#/properties/identities/properties/environment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema121.properties.identities.properties.environment.type,parentSchema:schema121.properties.identities.properties.environment,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data0.keys !== undefined){
let data3 = data0.keys;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key2 in data3){
let data4 = data3[key2];
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
for(const key3 in data4){
let data5 = data4[key3];
if(typeof data5 !== "string"){
const err9 = {instancePath:instancePath+"/identities/keys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/identities/properties/keys/additionalProperties/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema121.properties.identities.properties.keys.additionalProperties.additionalProperties.type,parentSchema:schema121.properties.identities.properties.keys.additionalProperties.additionalProperties,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
}
else {
const err10 = {instancePath:instancePath+"/identities/keys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/identities/properties/keys/additionalProperties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema121.properties.identities.properties.keys.additionalProperties.type,parentSchema:schema121.properties.identities.properties.keys.additionalProperties,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
}
else {
const err11 = {instancePath:instancePath+"/identities/keys",schemaPath:"#/properties/identities/properties/keys/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema121.properties.identities.properties.keys.type,parentSchema:schema121.properties.identities.properties.keys,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/identities",schemaPath:"#/properties/identities/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema121.properties.identities.type,parentSchema:schema121.properties.identities,data:data0};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema121.type,parentSchema:schema121,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate71.errors = vErrors;
return errors === 0;
}
validate71.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

export const kills = validate72;
const schema122 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:kills:1","title":"KillsSpec","description":"Break-glass list of one environment: kills/<environment>.yaml, owned by on-call.","type":"object","additionalProperties":false,"required":["kills"],"properties":{"kills":{"description":"Flag → why it is killed. An entry is enforced at once; {} for none.","type":"object","additionalProperties":{"title":"KillSpec","description":"One kill.","type":"object","additionalProperties":false,"required":["reason"],"properties":{"reason":{"description":"Why; goes into the comment of the write.","type":"string","minLength":1},"by":{"description":"Who ordered it.","type":"string","minLength":1},"since":{"description":"When it was ordered.","type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$","x-expected":"a day (2026-10-03) or a moment with its zone (2026-10-03T22:14:00Z)"},"review":{"description":"When somebody has to look at it again.","type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$","x-expected":"a day (2026-10-03) or a moment with its zone (2026-10-03T22:14:00Z)"}}}}}};
const pattern13 = new RegExp("^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$", "u");

function validate72(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:kills:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate72.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.kills === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "kills"},message:"must have required property '"+"kills"+"'",schema:schema122.required,parentSchema:schema122,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "kills")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema122,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.kills !== undefined){
let data0 = data.kills;
if(data0 && typeof data0 == "object" && !Array.isArray(data0)){
for(const key1 in data0){
let data1 = data0[key1];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.reason === undefined){
const err2 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/kills/additionalProperties/required",keyword:"required",params:{missingProperty: "reason"},message:"must have required property '"+"reason"+"'",schema:schema122.properties.kills.additionalProperties.required,parentSchema:schema122.properties.kills.additionalProperties,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key2 in data1){
if(!((((key2 === "reason") || (key2 === "by")) || (key2 === "since")) || (key2 === "review"))){
const err3 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/kills/additionalProperties/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties",schema:false,parentSchema:schema122.properties.kills.additionalProperties,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data1.reason !== undefined){
let data2 = data1.reason;
if(typeof data2 === "string"){
if(func2(data2) < 1){
const err4 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/reason",schemaPath:"#/properties/kills/additionalProperties/properties/reason/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema122.properties.kills.additionalProperties.properties.reason,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
else {
const err5 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/reason",schemaPath:"#/properties/kills/additionalProperties/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.kills.additionalProperties.properties.reason.type,parentSchema:schema122.properties.kills.additionalProperties.properties.reason,data:data2};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.by !== undefined){
let data3 = data1.by;
if(typeof data3 === "string"){
if(func2(data3) < 1){
const err6 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/by",schemaPath:"#/properties/kills/additionalProperties/properties/by/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema122.properties.kills.additionalProperties.properties.by,data:data3};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/by",schemaPath:"#/properties/kills/additionalProperties/properties/by/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.kills.additionalProperties.properties.by.type,parentSchema:schema122.properties.kills.additionalProperties.properties.by,data:data3};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data1.since !== undefined){
let data4 = data1.since;
if(typeof data4 === "string"){
if(!pattern13.test(data4)){
const err8 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/since",schemaPath:"#/properties/kills/additionalProperties/properties/since/pattern",keyword:"pattern",params:{pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"},message:"must match pattern \""+"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"+"\"",schema:"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$",parentSchema:schema122.properties.kills.additionalProperties.properties.since,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/since",schemaPath:"#/properties/kills/additionalProperties/properties/since/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.kills.additionalProperties.properties.since.type,parentSchema:schema122.properties.kills.additionalProperties.properties.since,data:data4};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data1.review !== undefined){
let data5 = data1.review;
if(typeof data5 === "string"){
if(!pattern13.test(data5)){
const err10 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/review",schemaPath:"#/properties/kills/additionalProperties/properties/review/pattern",keyword:"pattern",params:{pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"},message:"must match pattern \""+"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"+"\"",schema:"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$",parentSchema:schema122.properties.kills.additionalProperties.properties.review,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/review",schemaPath:"#/properties/kills/additionalProperties/properties/review/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema122.properties.kills.additionalProperties.properties.review.type,parentSchema:schema122.properties.kills.additionalProperties.properties.review,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/kills/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/kills/additionalProperties/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema122.properties.kills.additionalProperties.type,parentSchema:schema122.properties.kills.additionalProperties,data:data1};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath:instancePath+"/kills",schemaPath:"#/properties/kills/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema122.properties.kills.type,parentSchema:schema122.properties.kills,data:data0};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
}
else {
const err14 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema122.type,parentSchema:schema122,data};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
validate72.errors = vErrors;
return errors === 0;
}
validate72.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

export const specTest = validate73;
const schema123 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:spec-test:1","title":"SpecTestSpec","description":"Expectations about one flag, run offline: tests/**/*.test.yaml.","type":"object","additionalProperties":false,"required":["tests","cases"],"properties":{"tests":{"description":"Name of the flag.","type":"string","minLength":1},"cases":{"description":"Situations and what is expected there.","type":"array","minItems":1,"items":{"title":"SpecTestCase","description":"One situation.","type":"object","additionalProperties":false,"required":["name","environment","expect"],"properties":{"name":{"description":"What the case says, as a sentence.","type":"string","minLength":1},"environment":{"description":"Name of the environment, as in flagkeel.yaml.","type":"string","minLength":1},"key":{"description":"Key that is evaluated.","type":"string","minLength":1},"segments":{"description":"Segments that the key is taken to be in, whatever their lists say.","type":"array","items":{"type":"string","minLength":1}},"attributes":{"description":"Attribute → value.","type":"object","additionalProperties":true},"at":{"description":"Bucket that the key is taken to fall into, 1 to 100.","type":"integer","minimum":1,"maximum":100},"killed":{"description":"Whether the flag is taken to be killed.","type":"boolean"},"when":{"description":"Moment at which it is evaluated: each ramp with a `start` at the step that is due then, others as `started` says. A day is its first moment, in UTC.","type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$","x-expected":"a day (2026-10-03) or a moment with its zone (2026-10-03T22:14:00Z)"},"started":{"description":"With `when`: the moment at which ramps of the flag are taken to begin that have no time as their `start`. A day is its first moment, in UTC.","type":"string","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$","x-expected":"a day (2026-10-03) or a moment with its zone (2026-10-03T22:14:00Z)"},"expect":{"description":"A treatment, a list of treatments of which each is right, or a distribution: treatment → whole per cent.","x-expected":"a treatment, a list of treatments, or whole per cents by treatment","anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"type":"string","minLength":1}},{"type":"object","minProperties":1,"additionalProperties":{"type":"integer","minimum":0,"maximum":100}}]}}}}}};

function validate73(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:spec-test:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate73.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.tests === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "tests"},message:"must have required property '"+"tests"+"'",schema:schema123.required,parentSchema:schema123,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.cases === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cases"},message:"must have required property '"+"cases"+"'",schema:schema123.required,parentSchema:schema123,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
for(const key0 in data){
if(!((key0 === "tests") || (key0 === "cases"))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema123,data};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.tests !== undefined){
let data0 = data.tests;
if(typeof data0 === "string"){
if(func2(data0) < 1){
const err3 = {instancePath:instancePath+"/tests",schemaPath:"#/properties/tests/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema123.properties.tests,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/tests",schemaPath:"#/properties/tests/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.tests.type,parentSchema:schema123.properties.tests,data:data0};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.cases !== undefined){
let data1 = data.cases;
if(Array.isArray(data1)){
if(data1.length < 1){
const err5 = {instancePath:instancePath+"/cases",schemaPath:"#/properties/cases/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema123.properties.cases,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.name === undefined){
const err6 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema123.properties.cases.items.required,parentSchema:schema123.properties.cases.items,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data2.environment === undefined){
const err7 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/required",keyword:"required",params:{missingProperty: "environment"},message:"must have required property '"+"environment"+"'",schema:schema123.properties.cases.items.required,parentSchema:schema123.properties.cases.items,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data2.expect === undefined){
const err8 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/required",keyword:"required",params:{missingProperty: "expect"},message:"must have required property '"+"expect"+"'",schema:schema123.properties.cases.items.required,parentSchema:schema123.properties.cases.items,data:data2};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
for(const key1 in data2){
if(!(func1.call(schema123.properties.cases.items.properties, key1))){
const err9 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema123.properties.cases.items,data:data2};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data2.name !== undefined){
let data3 = data2.name;
if(typeof data3 === "string"){
if(func2(data3) < 1){
const err10 = {instancePath:instancePath+"/cases/" + i0+"/name",schemaPath:"#/properties/cases/items/properties/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema123.properties.cases.items.properties.name,data:data3};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/cases/" + i0+"/name",schemaPath:"#/properties/cases/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.name.type,parentSchema:schema123.properties.cases.items.properties.name,data:data3};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data2.environment !== undefined){
let data4 = data2.environment;
if(typeof data4 === "string"){
if(func2(data4) < 1){
const err12 = {instancePath:instancePath+"/cases/" + i0+"/environment",schemaPath:"#/properties/cases/items/properties/environment/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema123.properties.cases.items.properties.environment,data:data4};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/cases/" + i0+"/environment",schemaPath:"#/properties/cases/items/properties/environment/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.environment.type,parentSchema:schema123.properties.cases.items.properties.environment,data:data4};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data2.key !== undefined){
let data5 = data2.key;
if(typeof data5 === "string"){
if(func2(data5) < 1){
const err14 = {instancePath:instancePath+"/cases/" + i0+"/key",schemaPath:"#/properties/cases/items/properties/key/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema123.properties.cases.items.properties.key,data:data5};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/cases/" + i0+"/key",schemaPath:"#/properties/cases/items/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.key.type,parentSchema:schema123.properties.cases.items.properties.key,data:data5};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data2.segments !== undefined){
let data6 = data2.segments;
if(Array.isArray(data6)){
const len1 = data6.length;
for(let i1=0; i1<len1; i1++){
let data7 = data6[i1];
if(typeof data7 === "string"){
if(func2(data7) < 1){
const err16 = {instancePath:instancePath+"/cases/" + i0+"/segments/" + i1,schemaPath:"#/properties/cases/items/properties/segments/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema123.properties.cases.items.properties.segments.items,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
else {
const err17 = {instancePath:instancePath+"/cases/" + i0+"/segments/" + i1,schemaPath:"#/properties/cases/items/properties/segments/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.segments.items.type,parentSchema:schema123.properties.cases.items.properties.segments.items,data:data7};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
else {
const err18 = {instancePath:instancePath+"/cases/" + i0+"/segments",schemaPath:"#/properties/cases/items/properties/segments/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema123.properties.cases.items.properties.segments.type,parentSchema:schema123.properties.cases.items.properties.segments,data:data6};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data2.attributes !== undefined){
let data8 = data2.attributes;
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
}
else {
const err19 = {instancePath:instancePath+"/cases/" + i0+"/attributes",schemaPath:"#/properties/cases/items/properties/attributes/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema123.properties.cases.items.properties.attributes.type,parentSchema:schema123.properties.cases.items.properties.attributes,data:data8};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data2.at !== undefined){
let data9 = data2.at;
if(!(((typeof data9 == "number") && (!(data9 % 1) && !isNaN(data9))) && (isFinite(data9)))){
const err20 = {instancePath:instancePath+"/cases/" + i0+"/at",schemaPath:"#/properties/cases/items/properties/at/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema123.properties.cases.items.properties.at.type,parentSchema:schema123.properties.cases.items.properties.at,data:data9};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if((typeof data9 == "number") && (isFinite(data9))){
if(data9 > 100 || isNaN(data9)){
const err21 = {instancePath:instancePath+"/cases/" + i0+"/at",schemaPath:"#/properties/cases/items/properties/at/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema123.properties.cases.items.properties.at,data:data9};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(data9 < 1 || isNaN(data9)){
const err22 = {instancePath:instancePath+"/cases/" + i0+"/at",schemaPath:"#/properties/cases/items/properties/at/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema123.properties.cases.items.properties.at,data:data9};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
}
if(data2.killed !== undefined){
let data10 = data2.killed;
if(typeof data10 !== "boolean"){
const err23 = {instancePath:instancePath+"/cases/" + i0+"/killed",schemaPath:"#/properties/cases/items/properties/killed/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema123.properties.cases.items.properties.killed.type,parentSchema:schema123.properties.cases.items.properties.killed,data:data10};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data2.when !== undefined){
let data11 = data2.when;
if(typeof data11 === "string"){
if(!pattern13.test(data11)){
const err24 = {instancePath:instancePath+"/cases/" + i0+"/when",schemaPath:"#/properties/cases/items/properties/when/pattern",keyword:"pattern",params:{pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"},message:"must match pattern \""+"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"+"\"",schema:"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$",parentSchema:schema123.properties.cases.items.properties.when,data:data11};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/cases/" + i0+"/when",schemaPath:"#/properties/cases/items/properties/when/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.when.type,parentSchema:schema123.properties.cases.items.properties.when,data:data11};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data2.started !== undefined){
let data12 = data2.started;
if(typeof data12 === "string"){
if(!pattern13.test(data12)){
const err26 = {instancePath:instancePath+"/cases/" + i0+"/started",schemaPath:"#/properties/cases/items/properties/started/pattern",keyword:"pattern",params:{pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"},message:"must match pattern \""+"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$"+"\"",schema:"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$",parentSchema:schema123.properties.cases.items.properties.started,data:data12};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
else {
const err27 = {instancePath:instancePath+"/cases/" + i0+"/started",schemaPath:"#/properties/cases/items/properties/started/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.started.type,parentSchema:schema123.properties.cases.items.properties.started,data:data12};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data2.expect !== undefined){
let data13 = data2.expect;
const _errs31 = errors;
let valid6 = false;
const _errs32 = errors;
if(typeof data13 === "string"){
if(func2(data13) < 1){
const err28 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/anyOf/0/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[0],data:data13};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
else {
const err29 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/anyOf/0/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.expect.anyOf[0].type,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[0],data:data13};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
var _valid0 = _errs32 === errors;
valid6 = valid6 || _valid0;
const _errs34 = errors;
if(Array.isArray(data13)){
if(data13.length < 1){
const err30 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/anyOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[1],data:data13};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
const len2 = data13.length;
for(let i2=0; i2<len2; i2++){
let data14 = data13[i2];
if(typeof data14 === "string"){
if(func2(data14) < 1){
const err31 = {instancePath:instancePath+"/cases/" + i0+"/expect/" + i2,schemaPath:"#/properties/cases/items/properties/expect/anyOf/1/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[1].items,data:data14};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
else {
const err32 = {instancePath:instancePath+"/cases/" + i0+"/expect/" + i2,schemaPath:"#/properties/cases/items/properties/expect/anyOf/1/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema123.properties.cases.items.properties.expect.anyOf[1].items.type,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[1].items,data:data14};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
}
else {
const err33 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/anyOf/1/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema123.properties.cases.items.properties.expect.anyOf[1].type,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[1],data:data13};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
var _valid0 = _errs34 === errors;
valid6 = valid6 || _valid0;
const _errs38 = errors;
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
if(Object.keys(data13).length < 1){
const err34 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/anyOf/2/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties",schema:1,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[2],data:data13};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
for(const key2 in data13){
let data15 = data13[key2];
if(!(((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15))) && (isFinite(data15)))){
const err35 = {instancePath:instancePath+"/cases/" + i0+"/expect/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/expect/anyOf/2/additionalProperties/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema123.properties.cases.items.properties.expect.anyOf[2].additionalProperties.type,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[2].additionalProperties,data:data15};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 > 100 || isNaN(data15)){
const err36 = {instancePath:instancePath+"/cases/" + i0+"/expect/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/expect/anyOf/2/additionalProperties/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100",schema:100,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[2].additionalProperties,data:data15};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(data15 < 0 || isNaN(data15)){
const err37 = {instancePath:instancePath+"/cases/" + i0+"/expect/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/expect/anyOf/2/additionalProperties/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0",schema:0,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[2].additionalProperties,data:data15};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
}
else {
const err38 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/anyOf/2/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema123.properties.cases.items.properties.expect.anyOf[2].type,parentSchema:schema123.properties.cases.items.properties.expect.anyOf[2],data:data13};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
var _valid0 = _errs38 === errors;
valid6 = valid6 || _valid0;
if(!valid6){
const err39 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/anyOf",keyword:"anyOf",params:{},message:"must match a schema in anyOf",schema:schema123.properties.cases.items.properties.expect.anyOf,parentSchema:schema123.properties.cases.items.properties.expect,data:data13};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
else {
errors = _errs31;
if(vErrors !== null){
if(_errs31){
vErrors.length = _errs31;
}
else {
vErrors = null;
}
}
}
}
}
else {
const err40 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema123.properties.cases.items.type,parentSchema:schema123.properties.cases.items,data:data2};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
else {
const err41 = {instancePath:instancePath+"/cases",schemaPath:"#/properties/cases/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema123.properties.cases.type,parentSchema:schema123.properties.cases,data:data1};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
}
else {
const err42 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema123.type,parentSchema:schema123,data};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
validate73.errors = vErrors;
return errors === 0;
}
validate73.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

export const watch = validate74;
const schema124 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagkeel:schema:watch:1","title":"WatchSpec","description":"Sources that one daemon keeps in line: the file that `flagkeel watch --config` reads. It is the operator's, and lies in none of the repositories. What a source does not say is as the command line says it.","type":"object","additionalProperties":false,"required":["sources"],"properties":{"sources":{"description":"Each by itself, side by side.","type":"array","minItems":1,"maxItems":200,"items":{"title":"SourceSpec","description":"One config repository. It names a directory or a repo.","type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"description":"What logs, metrics and the status page call it.","type":"string","pattern":"^[a-z0-9][a-z0-9-]{0,62}$","x-expected":"lower-case letters, digits and '-', at most 63"},"directory":{"description":"A directory of this machine, seen from the folder of this file.","type":"string","minLength":1},"repo":{"description":"URL of a git server: https, ssh, or a path. Without credentials.","type":"string","minLength":1},"branch":{"description":"With repo: which branch. Default: the server's HEAD.","type":"string","minLength":1},"path":{"description":"With repo: where in the repository flagkeel.yaml lies. Default: its top.","type":"string","minLength":1},"gitUser":{"description":"Over https: the name that goes with the token.","type":"string","minLength":1},"gitTokenFile":{"description":"Over https: a file that holds the token; read again when it is needed.","type":"string","minLength":1},"sshKeyFile":{"description":"Over ssh: the private key.","type":"string","minLength":1},"knownHostsFile":{"description":"Over ssh: the keys of servers that are accepted.","type":"string","minLength":1},"url":{"description":"The administration service. Default: as the command line or the environment says.","type":"string","minLength":1},"apiKeyFile":{"description":"A file that holds the Admin API key; read again when it is needed. Default: the key of the environment.","type":"string","minLength":1},"environments":{"description":"Only these. Default: all of flagkeel.yaml.","type":"array","minItems":1,"items":{"type":"string","minLength":1}},"interval":{"description":"How often to look for commits, for example 30s.","$ref":"#/$defs/duration"},"schedule":{"description":"When to check everything for drift: five fields of cron, or off.","type":"string","minLength":1},"prune":{"description":"Delete what the specs used to declare and no longer do.","type":"boolean"},"adopt":{"description":"Take over live objects that differ, also in protected environments.","type":"boolean"},"revertDrift":{"description":"Undo changes made outside git, also where they are only reported.","type":"boolean"}}}}},"$defs":{"duration":{"type":"string","pattern":"^[0-9]+(ms|s|m|h)?$","x-expected":"a duration such as 30s or 5m"}}};
const schema125 = {"type":"string","pattern":"^[0-9]+(ms|s|m|h)?$","x-expected":"a duration such as 30s or 5m"};
const pattern17 = new RegExp("^[a-z0-9][a-z0-9-]{0,62}$", "u");
const pattern18 = new RegExp("^[0-9]+(ms|s|m|h)?$", "u");

function validate74(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="urn:flagkeel:schema:watch:1" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate74.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.sources === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "sources"},message:"must have required property '"+"sources"+"'",schema:schema124.required,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "sources")){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.sources !== undefined){
let data0 = data.sources;
if(Array.isArray(data0)){
if(data0.length > 200){
const err2 = {instancePath:instancePath+"/sources",schemaPath:"#/properties/sources/maxItems",keyword:"maxItems",params:{limit: 200},message:"must NOT have more than 200 items",schema:200,parentSchema:schema124.properties.sources,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data0.length < 1){
const err3 = {instancePath:instancePath+"/sources",schemaPath:"#/properties/sources/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema124.properties.sources,data:data0};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
const len0 = data0.length;
for(let i0=0; i0<len0; i0++){
let data1 = data0[i0];
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
if(data1.name === undefined){
const err4 = {instancePath:instancePath+"/sources/" + i0,schemaPath:"#/properties/sources/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'",schema:schema124.properties.sources.items.required,parentSchema:schema124.properties.sources.items,data:data1};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
for(const key1 in data1){
if(!(func1.call(schema124.properties.sources.items.properties, key1))){
const err5 = {instancePath:instancePath+"/sources/" + i0,schemaPath:"#/properties/sources/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties",schema:false,parentSchema:schema124.properties.sources.items,data:data1};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data1.name !== undefined){
let data2 = data1.name;
if(typeof data2 === "string"){
if(!pattern17.test(data2)){
const err6 = {instancePath:instancePath+"/sources/" + i0+"/name",schemaPath:"#/properties/sources/items/properties/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9][a-z0-9-]{0,62}$"},message:"must match pattern \""+"^[a-z0-9][a-z0-9-]{0,62}$"+"\"",schema:"^[a-z0-9][a-z0-9-]{0,62}$",parentSchema:schema124.properties.sources.items.properties.name,data:data2};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/sources/" + i0+"/name",schemaPath:"#/properties/sources/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.name.type,parentSchema:schema124.properties.sources.items.properties.name,data:data2};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data1.directory !== undefined){
let data3 = data1.directory;
if(typeof data3 === "string"){
if(func2(data3) < 1){
const err8 = {instancePath:instancePath+"/sources/" + i0+"/directory",schemaPath:"#/properties/sources/items/properties/directory/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.directory,data:data3};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/sources/" + i0+"/directory",schemaPath:"#/properties/sources/items/properties/directory/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.directory.type,parentSchema:schema124.properties.sources.items.properties.directory,data:data3};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data1.repo !== undefined){
let data4 = data1.repo;
if(typeof data4 === "string"){
if(func2(data4) < 1){
const err10 = {instancePath:instancePath+"/sources/" + i0+"/repo",schemaPath:"#/properties/sources/items/properties/repo/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.repo,data:data4};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/sources/" + i0+"/repo",schemaPath:"#/properties/sources/items/properties/repo/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.repo.type,parentSchema:schema124.properties.sources.items.properties.repo,data:data4};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data1.branch !== undefined){
let data5 = data1.branch;
if(typeof data5 === "string"){
if(func2(data5) < 1){
const err12 = {instancePath:instancePath+"/sources/" + i0+"/branch",schemaPath:"#/properties/sources/items/properties/branch/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.branch,data:data5};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/sources/" + i0+"/branch",schemaPath:"#/properties/sources/items/properties/branch/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.branch.type,parentSchema:schema124.properties.sources.items.properties.branch,data:data5};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data1.path !== undefined){
let data6 = data1.path;
if(typeof data6 === "string"){
if(func2(data6) < 1){
const err14 = {instancePath:instancePath+"/sources/" + i0+"/path",schemaPath:"#/properties/sources/items/properties/path/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.path,data:data6};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/sources/" + i0+"/path",schemaPath:"#/properties/sources/items/properties/path/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.path.type,parentSchema:schema124.properties.sources.items.properties.path,data:data6};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data1.gitUser !== undefined){
let data7 = data1.gitUser;
if(typeof data7 === "string"){
if(func2(data7) < 1){
const err16 = {instancePath:instancePath+"/sources/" + i0+"/gitUser",schemaPath:"#/properties/sources/items/properties/gitUser/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.gitUser,data:data7};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
else {
const err17 = {instancePath:instancePath+"/sources/" + i0+"/gitUser",schemaPath:"#/properties/sources/items/properties/gitUser/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.gitUser.type,parentSchema:schema124.properties.sources.items.properties.gitUser,data:data7};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data1.gitTokenFile !== undefined){
let data8 = data1.gitTokenFile;
if(typeof data8 === "string"){
if(func2(data8) < 1){
const err18 = {instancePath:instancePath+"/sources/" + i0+"/gitTokenFile",schemaPath:"#/properties/sources/items/properties/gitTokenFile/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.gitTokenFile,data:data8};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
else {
const err19 = {instancePath:instancePath+"/sources/" + i0+"/gitTokenFile",schemaPath:"#/properties/sources/items/properties/gitTokenFile/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.gitTokenFile.type,parentSchema:schema124.properties.sources.items.properties.gitTokenFile,data:data8};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data1.sshKeyFile !== undefined){
let data9 = data1.sshKeyFile;
if(typeof data9 === "string"){
if(func2(data9) < 1){
const err20 = {instancePath:instancePath+"/sources/" + i0+"/sshKeyFile",schemaPath:"#/properties/sources/items/properties/sshKeyFile/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.sshKeyFile,data:data9};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
else {
const err21 = {instancePath:instancePath+"/sources/" + i0+"/sshKeyFile",schemaPath:"#/properties/sources/items/properties/sshKeyFile/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.sshKeyFile.type,parentSchema:schema124.properties.sources.items.properties.sshKeyFile,data:data9};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data1.knownHostsFile !== undefined){
let data10 = data1.knownHostsFile;
if(typeof data10 === "string"){
if(func2(data10) < 1){
const err22 = {instancePath:instancePath+"/sources/" + i0+"/knownHostsFile",schemaPath:"#/properties/sources/items/properties/knownHostsFile/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.knownHostsFile,data:data10};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/sources/" + i0+"/knownHostsFile",schemaPath:"#/properties/sources/items/properties/knownHostsFile/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.knownHostsFile.type,parentSchema:schema124.properties.sources.items.properties.knownHostsFile,data:data10};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data1.url !== undefined){
let data11 = data1.url;
if(typeof data11 === "string"){
if(func2(data11) < 1){
const err24 = {instancePath:instancePath+"/sources/" + i0+"/url",schemaPath:"#/properties/sources/items/properties/url/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.url,data:data11};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
else {
const err25 = {instancePath:instancePath+"/sources/" + i0+"/url",schemaPath:"#/properties/sources/items/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.url.type,parentSchema:schema124.properties.sources.items.properties.url,data:data11};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data1.apiKeyFile !== undefined){
let data12 = data1.apiKeyFile;
if(typeof data12 === "string"){
if(func2(data12) < 1){
const err26 = {instancePath:instancePath+"/sources/" + i0+"/apiKeyFile",schemaPath:"#/properties/sources/items/properties/apiKeyFile/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.apiKeyFile,data:data12};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
else {
const err27 = {instancePath:instancePath+"/sources/" + i0+"/apiKeyFile",schemaPath:"#/properties/sources/items/properties/apiKeyFile/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.apiKeyFile.type,parentSchema:schema124.properties.sources.items.properties.apiKeyFile,data:data12};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data1.environments !== undefined){
let data13 = data1.environments;
if(Array.isArray(data13)){
if(data13.length < 1){
const err28 = {instancePath:instancePath+"/sources/" + i0+"/environments",schemaPath:"#/properties/sources/items/properties/environments/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items",schema:1,parentSchema:schema124.properties.sources.items.properties.environments,data:data13};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
const len1 = data13.length;
for(let i1=0; i1<len1; i1++){
let data14 = data13[i1];
if(typeof data14 === "string"){
if(func2(data14) < 1){
const err29 = {instancePath:instancePath+"/sources/" + i0+"/environments/" + i1,schemaPath:"#/properties/sources/items/properties/environments/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.environments.items,data:data14};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
else {
const err30 = {instancePath:instancePath+"/sources/" + i0+"/environments/" + i1,schemaPath:"#/properties/sources/items/properties/environments/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.environments.items.type,parentSchema:schema124.properties.sources.items.properties.environments.items,data:data14};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
else {
const err31 = {instancePath:instancePath+"/sources/" + i0+"/environments",schemaPath:"#/properties/sources/items/properties/environments/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema124.properties.sources.items.properties.environments.type,parentSchema:schema124.properties.sources.items.properties.environments,data:data13};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data1.interval !== undefined){
let data15 = data1.interval;
if(typeof data15 === "string"){
if(!pattern18.test(data15)){
const err32 = {instancePath:instancePath+"/sources/" + i0+"/interval",schemaPath:"#/$defs/duration/pattern",keyword:"pattern",params:{pattern: "^[0-9]+(ms|s|m|h)?$"},message:"must match pattern \""+"^[0-9]+(ms|s|m|h)?$"+"\"",schema:"^[0-9]+(ms|s|m|h)?$",parentSchema:schema125,data:data15};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
else {
const err33 = {instancePath:instancePath+"/sources/" + i0+"/interval",schemaPath:"#/$defs/duration/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema125.type,parentSchema:schema125,data:data15};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data1.schedule !== undefined){
let data16 = data1.schedule;
if(typeof data16 === "string"){
if(func2(data16) < 1){
const err34 = {instancePath:instancePath+"/sources/" + i0+"/schedule",schemaPath:"#/properties/sources/items/properties/schedule/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters",schema:1,parentSchema:schema124.properties.sources.items.properties.schedule,data:data16};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
else {
const err35 = {instancePath:instancePath+"/sources/" + i0+"/schedule",schemaPath:"#/properties/sources/items/properties/schedule/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema124.properties.sources.items.properties.schedule.type,parentSchema:schema124.properties.sources.items.properties.schedule,data:data16};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data1.prune !== undefined){
let data17 = data1.prune;
if(typeof data17 !== "boolean"){
const err36 = {instancePath:instancePath+"/sources/" + i0+"/prune",schemaPath:"#/properties/sources/items/properties/prune/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema124.properties.sources.items.properties.prune.type,parentSchema:schema124.properties.sources.items.properties.prune,data:data17};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data1.adopt !== undefined){
let data18 = data1.adopt;
if(typeof data18 !== "boolean"){
const err37 = {instancePath:instancePath+"/sources/" + i0+"/adopt",schemaPath:"#/properties/sources/items/properties/adopt/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema124.properties.sources.items.properties.adopt.type,parentSchema:schema124.properties.sources.items.properties.adopt,data:data18};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data1.revertDrift !== undefined){
let data19 = data1.revertDrift;
if(typeof data19 !== "boolean"){
const err38 = {instancePath:instancePath+"/sources/" + i0+"/revertDrift",schemaPath:"#/properties/sources/items/properties/revertDrift/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema124.properties.sources.items.properties.revertDrift.type,parentSchema:schema124.properties.sources.items.properties.revertDrift,data:data19};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
}
else {
const err39 = {instancePath:instancePath+"/sources/" + i0,schemaPath:"#/properties/sources/items/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema124.properties.sources.items.type,parentSchema:schema124.properties.sources.items,data:data1};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
}
else {
const err40 = {instancePath:instancePath+"/sources",schemaPath:"#/properties/sources/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema124.properties.sources.type,parentSchema:schema124.properties.sources,data:data0};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
else {
const err41 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema124.type,parentSchema:schema124,data};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
validate74.errors = vErrors;
return errors === 0;
}
validate74.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};
