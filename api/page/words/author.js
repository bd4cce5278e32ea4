/** Authors in words: who made a change, and how that is known. */

/**
 * @param {any} author
 * @returns {string}
 */
export function authorName(author) {
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

/** @type {Record<string, string>} */
const KNOWN = {
  AUDIT: 'audit record',
  MANAGED_FIELDS: 'managedFields',
  UNKNOWN: 'nothing',
};

/**
 * @param {any} author
 * @returns {string}
 */
export const knownBy = (author) => KNOWN[author.knownBy] ?? '';

/**
 * Who acted, in words.
 * @param {{name: string | null, tool: string | null}} actor
 * @returns {string}
 */
export function actorName({ name, tool }) {
  if (name) return tool ? `${name} using ${tool}` : name;
  return tool ? `someone using ${tool}` : 'unknown';
}
