/** The project runs TypeScript as it is: an older Node cannot. @throws never; ends the process with a sentence. */
const major = Number(process.versions.node.split('.')[0]);

if (major < 24) {
  process.stderr.write(
    `This needs Node 24 or newer and runs on ${process.versions.node}. The repository pins its own: run npm ci with install scripts allowed, then npm start.\n`,
  );
  process.exit(1);
}
