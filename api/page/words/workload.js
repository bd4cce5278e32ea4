/** What became of a workload, in words. */

/** Kinds that are the top of what runs together; a Pod may be one alone. */
const WORKLOADS = new Set([
  'Job', 'JobSet', 'LeaderWorkerSet', 'TrainJob', 'PyTorchJob', 'MPIJob',
  'RayJob', 'RayCluster', 'Deployment', 'StatefulSet',
]);

/**
 * Whether what a search found is a workload.
 * @param {any} hit
 * @returns {boolean}
 */
export const isWorkload = (hit) =>
  hit?.kind === 'OBJECT' && WORKLOADS.has(hit.object.kind);

/**
 * The finding about a workload, in one sentence: what ended it last.
 * @param {any} why the answer of the query `ENDINGS` or `ENDED`
 * @returns {string}
 */
export const sentenceOf = ({ sentence, endings }) =>
  endings.at(-1)?.sentence ?? sentence;
