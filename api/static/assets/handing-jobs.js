let made;
export default ({ in_words_filter }) => made ??= (() => {
const in_jobs_filter = (() => {
const { FILTER_WORDS, NONE } = in_words_filter;
const STATES = [
'queued', 'pending', 'running', 'degraded', 'down', 'suspended', 'completed',
'failed', 'deleted', 'unknown',
];
const ENDED_BY = [
'node-failure', 'drain', 'preemption', 'eviction', 'container-oom',
'container-exit', 'deadline', 'suspension', 'deletion', 'completion',
'unrecorded',
];
const ANY = 'any';
const NAMED = /^(kind|namespace|node|rack|queue|priority|user):(.+)$/i;
const JOB_WORDS = [ANY, ...ENDED_BY, ...STATES];
function readJobFilter(text) {
const lists = { kinds: [], namespaces: [], states: [], endedBy: [], queues: [],
priorities: [], users: [] };
const variables = {};
const words = [];
const parts = [];
for (const word of text.trim().split(/\s+/).filter(Boolean)) {
const low = word.toLowerCase();
const [, named, value] = NAMED.exec(word) ?? [];
const name = named?.toLowerCase();
if (name === 'node' || name === 'rack') variables[name] = value;
else if (name === 'kind') lists.kinds.push(value.toLowerCase());
else if (name === 'namespace') lists.namespaces.push(value);
else if (name) {
const list = name === 'priority' ? 'priorities' : `${name}s`;
lists[list].push(value === NONE ? null : value);
}
else if (STATES.includes(low)) lists.states.push(low.toUpperCase());
else if (low === ANY || ENDED_BY.includes(low)) lists.endedBy.push(low);
else if (FILTER_WORDS.includes(low)) words.push(low);
else parts.push(low);
}
for (const [name, list] of Object.entries(lists)) {
if (list.length > 0) variables[name] = list;
}
if (parts.length > 0) variables.text = parts.join(' ');
return { variables, words };
}
return { JOB_WORDS, readJobFilter };
})();
return { in_jobs_filter };
})();
