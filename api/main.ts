import '../runtime/process/node-version.ts';
import { runApi } from './run.ts';

await runApi();
