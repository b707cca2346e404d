import { promisify } from 'node:util';
import zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import { messageOf } from '../../../../runtime/errors.ts';
import { DamagedBatchError } from './damaged.ts';
import { withinFetch } from './fetched-bytes.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

const compress = promisify(zlib.zstdCompress);
const decompress = promisify(zlib.zstdDecompress);

/** kafkajs does not verify the CRC of a batch: without a checksum here a damaged one would be read as other amounts. */
const CHECKED = { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } };

/** kafkajs names this compression and brings no code for it. */
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer, CHECKED),
  decompress: (buffer: Buffer) =>
    withinFetch(() =>
      decompress(buffer).catch((error) => {
        throw new DamagedBatchError(`a batch is not as it was packed (${messageOf(error)})`);
      }),
    ),
});
