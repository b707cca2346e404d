import { flushCompileCache } from 'node:module';

/**
 * Loaded before a process that will be killed: what it has compiled is kept for the next one all the same, which starts
 * in half the time. A process does that by itself when it ends in order.
 */
const AFTER_MS = 1_500;

setTimeout(flushCompileCache, AFTER_MS).unref();
