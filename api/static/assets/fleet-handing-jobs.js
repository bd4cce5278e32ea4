let made;
export default ({  }) => made ??= (() => {
const in_words_filter = (() => {
const HAPPENED = [
'replaced', 'rejoined', 'removed', 'reboot', 'unreachable',
'kubelet-restart', 'drained', 'cordoned', 'degraded', 'joined',
];
const CONFIDENCE = ['proven', 'likely', 'possible', 'unknown'];
const CAUSES = [
'kernel-panic', 'hung-kernel', 'gpu-fault', 'memory-fault', 'power-loss',
'thermal-fault', 'link-fault', 'disk-fault', 'system-oom', 'container-oom',
'kubelet-failure', 'runtime-failure', 'network-partition',
'control-plane-outage', 'monitoring-failed', 'other-fault',
'admin-request', 'auto-remediation', 'os-upgrade', 'driver-upgrade',
'host-maintenance', 'scale-down', 'preemption', 'manual-drain',
'node-deletion', 'unrecorded',
];
const NONE = 'none';
const NAMED = /^(rack|namespace|controller):(.+)$/i;
const PREFIX = /^(cause|happened|confidence):/i;
const FILTER_WORDS = [...CAUSES, ...HAPPENED, ...CONFIDENCE];
function readFilter(text) {
const lists = { happened: [], causes: [], confidence: [], racks: [],
namespaces: [], controllers: [] };
const variables = {};
const words = [];
for (const word of text.trim().split(/\s+/).filter(Boolean)) {
const low = word.toLowerCase().replace(PREFIX, '');
const [, facet, value] = NAMED.exec(word) ?? [];
const name = low.toUpperCase().replaceAll('-', '_');
if (facet) {
lists[`${facet.toLowerCase()}s`].push(value === NONE ? null : value);
} else if (low.startsWith('node:')) variables.node = word.slice(5);
else if (low.startsWith('job:')) variables.workload = word.slice(4);
else if (CAUSES.includes(low)) lists.causes.push(name);
else if (HAPPENED.includes(low)) lists.happened.push(name);
else if (CONFIDENCE.includes(low)) lists.confidence.push(name);
else words.push(low);
}
for (const [name, list] of Object.entries(lists)) {
if (list.length > 0) variables[name] = list;
}
return { variables, words };
}
function toggled(text, word) {
const words = text.trim().split(/\s+/).filter(Boolean);
const others = words.filter((one) => one !== word);
return (others.length < words.length ? others : [...words, word]).join(' ');
}
const hasWord = (text, word) => text.trim().split(/\s+/).includes(word);
return { NONE, FILTER_WORDS, readFilter, toggled, hasWord };
})();
return { in_words_filter };
})();
