/** The order of a list: by what a column shows, either way. */

/**
 * @typedef {{id: string, title: string, isWord?: boolean,
 *   by: (item: any, about: any) => number | string}} Column
 *   a list is sorted by its first column unless another is chosen, the most
 *   first; columns of words begin with the least
 */

/**
 * Read an order.
 * @param {Column[]} columns
 * @param {string} text the name of a column, `-` before it for the most first
 * @returns {{id: string, isDown: boolean}}
 */
export function orderOf(columns, text) {
  const id = text.replace(/^-/, '');
  const isKnown = columns.some((column) => column.id === id);
  return isKnown ? { id, isDown: text.startsWith('-') }
    : { id: columns[0].id, isDown: true };
}

/**
 * The order that a click on a heading asks for: its own, then the reverse.
 * @param {Column[]} columns
 * @param {string} now
 * @param {string} id
 * @returns {string} empty for the order without a choice
 */
export function nextOrder(columns, now, id) {
  const { id: last, isDown } = orderOf(columns, now);
  const isWord = columns.find((column) => column.id === id)?.isWord ?? false;
  const down = last === id ? !isDown : !isWord;
  return id === columns[0].id && down ? '' : `${down ? '-' : ''}${id}`;
}

/**
 * Sort by what a column shows; what is equal by the first column.
 * @template T
 * @param {Column[]} columns
 * @param {T[]} items
 * @param {string} text as `orderOf` reads it
 * @param {any} [about] what columns need to know besides
 * @returns {T[]}
 */
export function sorted(columns, items, text, about) {
  const { id, isDown } = orderOf(columns, text);
  const [first] = columns;
  const { by } = columns.find((column) => column.id === id) ?? first;
  const keys = new Map(items.map((one) =>
    [one, [by(one, about), first.by(one, about)]]));
  return [...items].sort((one, other) => {
    const [[a, x], [b, y]] = [keys.get(one) ?? [], keys.get(other) ?? []];
    if (a !== b) return (a < b ? -1 : 1) * (isDown ? -1 : 1);
    if (x === y) return 0;
    return x < y ? 1 : -1;
  });
}
