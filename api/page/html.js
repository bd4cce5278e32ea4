/** Preact and HTM: the only module that uses both. */

import { Component, h, render } from '../static/assets/vendor/preact.mjs';
import htm from '../static/assets/vendor/htm.mjs';
import { shown } from './words/shown.js';

/** Attributes that people read. */
const READ = ['title', 'aria-label', 'alt', 'placeholder'];

/**
 * @param {any} child
 * @returns {any}
 */
function visible(child) {
  if (typeof child === 'string') return shown(child);
  return Array.isArray(child) ? child.map(visible) : child;
}

/**
 * @param {any} type
 * @param {any} props
 * @param {any[]} children
 */
function element(type, props, ...children) {
  if (typeof type !== 'string') return h(type, props, ...children);
  let given = props;
  for (const name of READ) {
    const text = props?.[name];
    if (typeof text === 'string') given = { ...given, [name]: shown(text) };
  }
  return h(type, given, ...children.map(visible));
}

/** What a template makes: elements, in which all data is text that shows. */
export const html = htm.bind(element);

export { Component, render };
