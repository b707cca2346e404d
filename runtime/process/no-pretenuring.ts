import { setFlagsFromString } from 'node:v8';

/**
 * V8 puts objects of a kind that once lived for long among the old ones from the start. After a moment in which many requests
 * waited these are parts of every request to come, and all that they point to, 4 to 10 kB each, is kept until the whole heap
 * is looked through: see docs/performance.md.
 */
setFlagsFromString('--no-allocation-site-pretenuring');
