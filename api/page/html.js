/** Preact and HTM, put together: the only module that knows both. */

import { Component, h, render } from '../static/assets/vendor/preact.mjs';
import htm from '../static/assets/vendor/htm.mjs';

/** What a template makes: elements, in which all data is text. */
export const html = htm.bind(h);

export { Component, render };
