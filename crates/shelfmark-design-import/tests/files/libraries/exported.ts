// A schema that the file exports by itself, with a local index and maps, as OneTable has them.
import { Table, OneSchema } from 'dynamodb-onetable'

export default {
    version: '0.1.0',
    format: 'onetable:1.1.0',
    indexes: {
        primary: { hash: 'PK', sort: 'SK' },
        gs1: { hash: 'GS1PK', sort: 'GS1SK', project: 'keys' },
        'by-name': { type: 'local', sort: 'name' },
    },
    models: {
        Account: {
            PK: { type: String, value: 'account#${id}' },
            SK: { type: String, value: 'account#' },
            id: { type: String, generate: 'ulid' },
            name: { type: String, required: true },
            address: {
                type: Object,
                schema: {
                    street: { type: String },
                    zip: { type: String, required: true },
                    at: {
                        type: Object,
                        required: true,
                        schema: { lat: { type: Number, required: true }, lon: { type: Number } },
                    },
                },
            },
            labels: { type: Array, items: { type: Number } },
            parts: { type: Array, items: { type: Object, schema: { part: { type: String } } } },
            GS1PK: { type: String, value: 'account#' },
            GS1SK: { type: String, value: 'account#${name}' },
        },
        Invoice: {
            PK: { type: String, value: 'account#${accountId}' },
            SK: { type: String, value: 'invoice#${number:6:0}' },
            accountId: { type: String, required: true },
            number: { type: Number, required: true },
        },
    },
    params: { isoDates: true },
} as const satisfies OneSchema

const opened = new Table({ name: 'my-shop.v1', client })
