import { promisify } from 'node:util';
import zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import { withinFetch } from './fetched-bytes.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

const compress = promisify(zlib.zstdCompress);
const decompress = promisify(zlib.zstdDecompress);

/** kafkajs names this compression and brings no code for it. */
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer),
  decompress: (buffer: Buffer) => withinFetch(() => decompress(buffer)),
});
