/** What became of a workload, in words. */

/** Kinds that are the top of what runs together; a Pod may be one alone. */
const WORKLOADS = new Set([
  'Job', 'JobSet', 'LeaderWorkerSet', 'TrainJob', 'PyTorchJob', 'MPIJob',
  'RayJob', 'RayCluster', 'Deployment', 'StatefulSet', 'SlurmJob',
]);

/** Phases in which a Pod has ended. */
const ENDS = new Set(['Succeeded', 'Failed']);

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

/**
 * What the Pods of a kind are called: those of a job of Slurm are members.
 * @param {string} kind as in the schema, or as in an address
 * @returns {string}
 */
export const partOf = (kind) =>
  kind.toLowerCase() === 'slurmjob' ? 'member' : 'Pod';

/**
 * The phase of a Pod; one that ended in no phase of an end is gone.
 * @param {any} placement
 * @returns {string | null}
 */
export const phaseOf = ({ phase, endedAt }) =>
  (endedAt && !ENDS.has(phase) ? 'gone' : phase);

/**
 * The names that Slurm files a job under; empty of another workload.
 * @param {any} slurm
 * @returns {string}
 */
export const slurmNames = (slurm) => (slurm ? [
  slurm.name, slurm.user && `user ${slurm.user}`,
  slurm.account && `account ${slurm.account}`,
  slurm.partition && `partition ${slurm.partition}`,
  slurm.qos && `QOS ${slurm.qos}`,
] : []).filter(Boolean).join(', ');
