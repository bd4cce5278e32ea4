let made;
export default ({ in_time_instant }) => made ??= (() => {
const in_time_axis = (() => {
const { offsetOf, partsOf } = in_time_instant;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
1, 2, 5, 10, 20, 50, 100, 200, 500,
SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND,
MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY,
];
const LABEL_PIXELS_MIN = 84;
const TICKS_MAX = 200;
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
function stepFor(length, width) {
const least = (length * LABEL_PIXELS_MIN) / Math.max(width, 1);
const last = (STEPS.at(-1));
const found = STEPS.find((step) => step >= least);
return found ?? Math.ceil(least / last) * last;
}
function ticksOf(window, width, zone) {
const step = stepFor(window.to - window.from, width);
const ahead = offsetOf(window.from, zone);
const ticks = [];
let at = Math.ceil((window.from + ahead) / step) * step - ahead;
for (; at <= window.to && ticks.length < TICKS_MAX; at += step) {
const strong = beginsDay(at, zone);
ticks.push({ at, label: labelOf(at, step, zone), strong });
}
return ticks;
}
function beginsDay(at, zone) {
const { hour, minute, second, micros } = partsOf(at, zone);
return hour === 0 && minute === 0 && second === 0 && micros === 0;
}
function labelOf(at, step, zone) {
const parts = partsOf(at, zone);
if (beginsDay(at, zone)) return `${parts.day} ${MONTHS[parts.month - 1]}`;
const two = (value) => String(value).padStart(2, '0');
const minutes = `${two(parts.hour)}:${two(parts.minute)}`;
if (step >= MINUTE) return minutes;
const seconds = `${minutes}:${two(parts.second)}`;
if (step >= SECOND) return seconds;
const millis = String(Math.round(parts.micros / 1000)).padStart(3, '0');
return `${seconds}.${millis}`;
}
return { STEPS, stepFor, ticksOf };
})();
return { in_time_axis };
})();
