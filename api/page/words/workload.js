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
 * The finding about a workload, in one sentence.
 * @param {any} story
 * @returns {string}
 */
export function sentenceOf({ workload, hits, failedAt }) {
  const name = `${workload.kind} ${workload.namespace}/${workload.name}`;
  if (hits.length === 0) {
    const failed = `${name} failed without a node disruption.`;
    return failedAt === null ? `${name} was not disrupted.` : failed;
  }
  if (hits.length === 1) return `${hits[0].says}.`;
  const last = hits.at(-1);
  return `${name} was disrupted ${hits.length} times, most recently: ${last.says}.`;
}
