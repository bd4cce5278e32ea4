/**
 * Instants: milliseconds since 1970 in UTC, with microseconds as a fraction.
 *
 * A double holds a quarter of a microsecond in this century, so that what the
 * recorder wrote can be read and written without loss.
 */

const WRITTEN =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i;
const MICROSECONDS = 1000;

/**
 * Read a time as RFC 3339 writes it.
 * @param {string} text
 * @returns {number | null} null for what is no time, or has no zone
 */
export function readInstant(text) {
  const found = WRITTEN.exec(text.trim());
  if (found === null) return null;
  const [, day, clock, fraction = '', zone] = found;
  const seconds = clock.length === 5 ? `${clock}:00` : clock;
  const whole = Date.parse(`${day}T${seconds}${zone.toUpperCase()}`);
  if (Number.isNaN(whole)) return null;
  return whole + Number(`0.${fraction || '0'}`) * 1000;
}

/**
 * Write a time as the recorder does: UTC, six places.
 * @param {number} at
 * @returns {string}
 */
export function writeInstant(at) {
  const micros = Math.round(at * MICROSECONDS);
  const whole = Math.floor(micros / 1e6);
  const rest = String(micros - whole * 1e6).padStart(6, '0');
  return `${new Date(whole * 1000).toISOString().slice(0, 19)}.${rest}Z`;
}

/**
 * Write a time as short as it can be without losing any of it.
 * @param {number} at
 * @returns {string}
 */
export function writeShort(at) {
  return writeInstant(at).replace(/\.?0+Z$/, 'Z');
}

/**
 * Take a time apart in a zone.
 * @param {number} at
 * @param {'utc' | 'local'} zone
 * @returns {{year: number, month: number, day: number, hour: number,
 *   minute: number, second: number, micros: number}}
 */
export function partsOf(at, zone) {
  const micros = Math.round(at * MICROSECONDS);
  const date = new Date(Math.floor(micros / 1e6) * 1000);
  const fraction = micros - Math.floor(micros / 1e6) * 1e6;
  if (zone === 'local') {
    return {
      year: date.getFullYear(),
      month: date.getMonth() + 1,
      day: date.getDate(),
      hour: date.getHours(),
      minute: date.getMinutes(),
      second: date.getSeconds(),
      micros: fraction,
    };
  }
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    micros: fraction,
  };
}

/**
 * By how much a zone is ahead of UTC at a time, in milliseconds.
 * @param {number} at
 * @param {'utc' | 'local'} zone
 * @returns {number}
 */
export function offsetOf(at, zone) {
  if (zone === 'utc') return 0;
  return -new Date(at).getTimezoneOffset() * 60_000;
}
