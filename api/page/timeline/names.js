/** The names of the lanes, with what can be done to each. */

import { html } from '../html.js';

/**
 * @param {{lanes: import('./lane.js').ReadyLane[], pinned: string[],
 *   onLane: (does: 'fold' | 'open' | 'pin' | 'up' | 'down', id: string)
 *     => void}} given
 */
export function LaneNames({ lanes, pinned, onLane }) {
  return html`
    <ol class="names" aria-label="Lanes">
      ${lanes.map(({ lane }, place) => {
        const isPinned = pinned.includes(lane.id);
        const previous = lanes[place - 1]?.lane.group;
        const isNew = previous !== undefined && previous !== lane.group;
        return html`
          <li key=${lane.id} class="${isNew ? 'group' : ''}
            ${isPinned ? 'pinned' : ''}">
            <span class="name" title=${lane.title}>${lane.title}</span>
            <span class="does">
              <${Does} does="pin" sign=${isPinned ? '◆' : '◇'} id=${lane.id}
                says=${isPinned ? 'unpin' : 'pin to top'} onLane=${onLane} />
              <${Does} does="up" sign="↑" id=${lane.id}
                says="move up" onLane=${onLane} />
              <${Does} does="down" sign="↓" id=${lane.id}
                says="move down" onLane=${onLane} />
              <${Does} does="fold" sign="−" id=${lane.id}
                says="collapse" onLane=${onLane} />
            </span>
          </li>
        `;
      })}
    </ol>
  `;
}

/**
 * @param {{does: 'fold' | 'open' | 'pin' | 'up' | 'down', sign: string,
 *   id: string, says: string, onLane: (does: any, id: string) => void}} given
 */
function Does({ does, sign, id, says, onLane }) {
  return html`
    <button type="button" title=${says} aria-label="${says}: ${id}"
      onClick=${() => onLane(does, id)}>${sign}</button>
  `;
}
