/** What a first visit does not need, loaded on demand. */

import { Compare } from './compare.js';
import { Evidence } from './evidence.js';
import { Handing } from './handing.js';
import { KubernetesObject } from './object.js';
import { Sources } from './sources.js';
import { Workload } from './workload.js';

export {
  Compare, Evidence, Handing, KubernetesObject, Sources, Workload,
};
