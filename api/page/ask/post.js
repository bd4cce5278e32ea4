/** Sends one query to the recorder over HTTP. */

import { proof } from './token.js';

/** Milliseconds; longer than the server lets a statement run. */
const PATIENCE = 60_000;

/** Codes of errors that a retry does not change. */
const FINAL = /^(question|not_found|config|graphql|access|api\.limit)/;

/** A request that failed, with a message for people. */
export class AskError extends Error {
  /**
   * @param {string} message
   * @param {string} [code] a stable word of the server's
   */
  constructor(message, code = '') {
    super(message);
    this.code = code;
  }

  /** Whether a retry would change nothing. */
  get isFinal() {
    return FINAL.test(this.code);
  }
}

/**
 * Send a query, and return the data of the answer.
 * @param {string} query
 * @param {Record<string, unknown>} variables
 * @param {AbortSignal} signal
 * @param {number} [patience] milliseconds
 * @returns {Promise<any>}
 * @throws {AskError} it could not be asked, or not be answered
 */
export async function post(query, variables, signal, patience = PATIENCE) {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
  const response = await reach(query, variables, limit);
  const answer = await read(response);
  const [error] = answer.errors ?? [];
  if (error) {
    throw new AskError(error.message, error.extensions?.code);
  }
  return answer.data;
}

/**
 * @param {string} query
 * @param {Record<string, unknown>} variables
 * @param {AbortSignal} signal
 */
async function reach(query, variables, signal) {
  try {
    return await fetch('/graphql', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/graphql-response+json, application/json',
        ...proof(),
      },
      body: JSON.stringify({ query, variables }),
      signal,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new AskError('no answer from the recorder in time');
    }
    if (signal.aborted) throw error;
    throw new AskError('cannot reach the recorder');
  }
}

/** @param {Response} response */
async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new AskError(
      `the recorder responded with ${response.status} ${response.statusText}`,
    );
  }
}
