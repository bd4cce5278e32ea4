let made;
export default ({ in_html, in_time_axis, in_time_clock, in_words_plain }) => made ??= (() => {
const in_views_strip = (() => {
const { Component, html } = in_html;
const { ticksOf } = in_time_axis;
const { clock, day, dayAndClock } = in_time_clock;
const { counted } = in_words_plain;
const DRAG_PIXELS = 4;
const BAR_LEAST = 14;
class Strip extends Component {
constructor(given) {
super(given);
this.drag = null;
}
timeOf(event) {
const { window } = (this.props);
const box = (event.currentTarget)
.getBoundingClientRect();
const share = (event.clientX - box.left) / box.width;
const kept = Math.min(Math.max(share, 0), 1);
return window.from + kept * (window.to - window.from);
}
begin(event) {
if (event.button !== 0) return;
const target = (event.currentTarget);
target.setPointerCapture(event.pointerId);
const at = this.timeOf(event);
this.drag = { from: at, to: at };
this.x = event.clientX;
}
move(event) {
if (this.drag === null) return;
this.drag = { ...this.drag, to: this.timeOf(event) };
this.forceUpdate();
}
end(event) {
const { drag } = this;
this.drag = null;
if (drag === null) return;
const given = (this.props);
const isClick = Math.abs(event.clientX - (this.x ?? 0)) < DRAG_PIXELS;
if (!isClick) given.onRange(ordered(drag));
else if (given.brush) given.onRange(about(given.brush, drag.to));
else {
const bar = given.bars.find(
(one) => drag.to >= one.from && drag.to < one.to,
);
if (bar) given.onRange({ from: bar.from, to: bar.to });
}
this.forceUpdate();
}
render() {
const { window, bars, unseen, brush, zone, noun, label } =
((this.props));
const most = Math.max(...bars.map((bar) => bar.count), 1);
const drag = this.drag && ordered(this.drag);
return html`
<div class="strip">
<div class="field" role="img" aria-label=${label}
onPointerDown=${(e) => this.begin(e)}
onPointerMove=${(e) => this.move(e)}
onPointerUp=${(e) => this.end(e)}>
${bars.map((bar) => html`
<div key=${bar.from} class="bar"
title="${counted(bar.count, noun)} from ${dayAndClock(bar.from, zone)}"
style=${{
...placed(bar, window),
height: `${BAR_LEAST + (100 - BAR_LEAST) * (bar.count / most)}%`,
}}></div>
`)}
${unseen.map((gap) => html`
<div class="hatch" title=${gap.label}
style=${placed(gap, window)}></div>
`)}
${brush && html`<div class="brush" style=${placed(brush, window)}></div>`}
${drag && html`<div class="drag" style=${placed(drag, window)}></div>`}
</div>
<div class="scale" aria-hidden="true">
${scaleOf(window, zone)}
</div>
</div>
`;
}
}
function scaleOf(window, zone) {
const length = window.to - window.from;
const words = ticksOf(window, 900, zone).map(({ at, label }) => {
const share = ((at - window.from) / length) * 100;
if (share < 17 || share > 88) return null;
return html`<span key=${at} style=${{ left: `${share}%` }}>${label}</span>`;
});
return html`
<b>${day(window.from, zone)} ${clock(window.from, zone)}</b>
${words}
<b>${clock(window.to, zone)}</b>
`;
}
function placed(part, whole) {
const length = whole.to - whole.from;
const left = Math.max((part.from - whole.from) / length, 0);
const right = Math.min((part.to - whole.from) / length, 1);
return {
left: `${left * 100}%`,
width: `${Math.max(right - left, 0) * 100}%`,
};
}
function ordered({ from, to }) {
return { from: Math.min(from, to), to: Math.max(from, to) };
}
function about(window, at) {
const half = (window.to - window.from) / 2;
return { from: at - half, to: at + half };
}
return { Strip };
})();
return { in_views_strip };
})();
