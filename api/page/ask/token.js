/**
 * The access token, if the recorder requires one.
 *
 * It is kept for this tab only, and never in the address, which is shared.
 */

const KEY = 'recorder-token';
const IN_ADDRESS = /^#token=(.+)$/;

/** Take a token from the link, and remove it from the address. */
export function takeToken() {
  const found = IN_ADDRESS.exec(location.hash);
  if (found === null) return;
  keepToken(decodeURIComponent(found[1]));
  history.replaceState(null, '', location.pathname + location.search);
}

/** @param {string} token */
export function keepToken(token) {
  sessionStorage.setItem(KEY, token.trim());
}

/**
 * The header that presents it.
 * @returns {Record<string, string>}
 */
export function proof() {
  const token = globalThis.sessionStorage?.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}
