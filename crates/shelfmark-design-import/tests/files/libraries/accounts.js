// Accounts, their users and invoices, as OneTable has them.
export default {}
const Schema = {
    version: '0.1.0',
    format: 'onetable:1.1.0',
    indexes: {
        primary: { hash: 'pk', sort: 'sk' },
        gs1: { hash: 'gs1pk', sort: 'gs1sk', project: ['email'] },
    },
    models: {
        Account: {
            pk: { type: String, value: 'account#${id}' },
            sk: { type: String, value: 'account#' },
            id: { type: String, generate: 'uuid', validate: /^[0-9a-f-]+$/i },
            name: { type: String, required: true },
            plan: { type: String, enum: ['free', 'paid'], required: true },
            address: { type: Object, schema: { street: { type: String }, zip: { type: Number } } },
        },
        User: {
            pk: { type: String, value: 'account#${accountId}' },
            sk: { type: String, value: 'user#${email}' },
            gs1pk: { type: String, value: 'user#${email}' },
            gs1sk: { type: String, value: '${_type}#' },
            accountId: { type: String, required: true },
            email: { type: String, required: true, unique: true },
            created: { type: Date },
        },
        Invoice: {
            pk: { type: String, value: 'account#${accountId}' },
            sk: { type: String, value: 'invoice#${number:6:0}' },
            accountId: { type: String, required: true },
            number: { type: Number, required: true },
            total: { type: Number, default: (model) => compute(model) },
        },
    },
    params: { isoDates: true, timestamps: true },
}
