/** Labels of fields whose names alone say too little. The other labels are made of the names. */
const LABELS = {
    animation_url: "Video, sound or model",
    banner_image: "Wide picture",
    base_uri: "Base URI",
    collection_address: "Collection",
    collection_uri: "Collection URI",
    copy_media: "Copy the media to IPFS",
    contract_address: "Contract",
    external_link: "Website",
    external_url: "Website",
    featured_image: "Picture for a selection",
    from_address: "From",
    image: "Picture",
    image_data: "SVG picture as text",
    initial_owner: "Owner",
    initial_supply: "Copies",
    mint_supply_count: "Most tokens",
    new_owner: "Owner of the contract",
    seller_fee_basis_points: "Royalty in percent",
    to_address: "To",
    token_id: "Token id",
    uri: "Metadata URI",
    url: "URL",
    youtube_url: "YouTube video",
};
/** `user_identifier` becomes "User identifier". */
export function labelOf(name) {
    const words = name.replaceAll("_", " ");
    return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
