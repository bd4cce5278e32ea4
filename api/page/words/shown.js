/** Text of a cluster as it is shown: what steers is a sign. */

/* eslint-disable no-control-regex */
const CONTROLS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

const SYMBOLS = 0x2400;
const DEL = 0x7f;
const DEL_SYMBOL = '\u2421';

/** @param {string} one */
function symbol(one) {
  const code = one.charCodeAt(0);
  if (code === DEL) return DEL_SYMBOL;
  return code < 0x20 ? String.fromCharCode(SYMBOLS + code) : '\ufffd';
}

/**
 * A text in which control characters, and those that turn its direction, are
 * signs that can be seen, as in `recorder.answers.text.lines`; line breaks and tabs
 * stay, which HTML shows as white space.
 * @param {string} text
 * @returns {string}
 */
export const shown = (text) => text.replace(CONTROLS, symbol);
