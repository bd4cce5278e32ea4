let made;
export default ({  }) => made ??= (() => {
const in_words_author = (() => {
function authorName(author) {
if (author.knownBy === 'UNKNOWN') return 'unknown';
const who = author.name ?? 'someone';
const asked = author.onBehalfOf ? ` as ${author.onBehalfOf}` : '';
const beside = [
author.client,
author.pod && `pod/${author.pod}`,
author.address && `from ${author.address}`,
].filter(Boolean).join(', ');
return `${who}${asked}${beside && ` (${beside})`}`;
}
const KNOWN = {
AUDIT: 'audit record',
MANAGED_FIELDS: 'managedFields',
UNKNOWN: 'nothing',
};
const knownBy = (author) => KNOWN[author.knownBy] ?? '';
function actorName({ name, tool }) {
if (name) return tool ? `${name} using ${tool}` : name;
return tool ? `someone using ${tool}` : 'unknown';
}
return { authorName, knownBy, actorName };
})();
return { in_words_author };
})();
