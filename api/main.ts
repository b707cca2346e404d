import '../runtime/node-version.ts';
