// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "./ICollection.sol";

/// @title IERC721Collection
/// @notice A collection of single tokens with the ids 1, 2, 3 ... without gaps. The id of a burnt token is never used
/// again.
interface IERC721Collection is ICollection {
    /// @notice Emitted when the maximum supply is lowered.
    /// @param previousMaxSupply The old maximum; zero if there was none.
    /// @param maxSupply The new maximum.
    event MaxSupplyLowered(uint256 previousMaxSupply, uint256 maxSupply);

    /// @notice ERC-5192: emitted when a token of a soulbound collection is minted, before its `Transfer` event.
    /// @param tokenId The token.
    event Locked(uint256 tokenId);

    /// @notice ERC-4906: emitted when the metadata of one token changes.
    /// @param _tokenId The token.
    event MetadataUpdate(uint256 _tokenId);

    /// @notice ERC-4906: emitted when the metadata of consecutive tokens changes.
    /// @param _fromTokenId The first token.
    /// @param _toTokenId The last token.
    event BatchMetadataUpdate(uint256 _fromTokenId, uint256 _toTokenId);

    /// @notice Thrown when a mint would exceed the maximum supply.
    /// @param maxSupply The maximum supply.
    error ERC721ExceededMaxSupply(uint256 maxSupply);

    /// @notice Thrown when a new maximum supply is zero, not below the current maximum, or below the number of minted
    /// tokens.
    /// @param maxSupply The refused maximum.
    /// @param minted The number of tokens minted so far.
    /// @param current The current maximum; zero if there is none.
    error ERC721InvalidMaxSupply(uint256 maxSupply, uint256 minted, uint256 current);

    /// @notice Mints the next token. Minters and the service can call this. A receiver with code must accept it.
    /// @param to The receiver.
    /// @return tokenId The new token's id.
    function mint(address to) external returns (uint256 tokenId);

    /// @notice Mints the next token without calling the receiver's hook. Only the service can call this. It does so for
    /// its own wallets: not looking at the receiver's code saves the gas of a cold account access.
    /// @param to The receiver.
    /// @return tokenId The new token's id.
    function mintToWallet(address to) external returns (uint256 tokenId);

    /// @notice Transfers a token with a signature of the wallet that holds it. Only the relay can call this. It appends
    /// the request number to the calldata; the signature covers that number. A receiver with code must accept the
    /// token.
    /// @param from The wallet that holds the token and signed.
    /// @param to The receiver.
    /// @param tokenId The token.
    /// @param r The first half of the EIP-712 signature of `TransferAuthorization`, with an amount of 1.
    /// @param vs The second half, in the compact form of ERC-2098.
    function transferWithAuthorization(address from, address to, uint256 tokenId, bytes32 r, bytes32 vs) external;

    /// @notice Burns a token with a signature of the wallet that holds it. Only the relay can call this. It appends the
    /// request number to the calldata; the signature covers that number. Reverts unless the wallet itself holds the
    /// token: an approval is not enough.
    /// @param from The wallet that holds the token and signed.
    /// @param tokenId The token.
    /// @param r The first half of the EIP-712 signature of `BurnAuthorization`, with an amount of 1.
    /// @param vs The second half, in the compact form of ERC-2098.
    function burnWithAuthorization(address from, uint256 tokenId, bytes32 r, bytes32 vs) external;

    /// @notice Burns a token. Its holder and the accounts that the holder approved can call this.
    /// @param tokenId The token.
    function burn(uint256 tokenId) external;

    /// @notice Lowers the maximum supply, at most down to the number of minted tokens. Only the owner can call this.
    /// @param newMaxSupply The new maximum.
    function lowerMaxSupply(uint256 newMaxSupply) external;

    /// @notice ERC-5192: tells whether the token can never be transferred, which is so for all tokens of a soulbound
    /// collection. Reverts if the token does not exist.
    /// @param tokenId The token.
    function locked(uint256 tokenId) external view returns (bool);

    /// @notice Returns the number of tokens that can ever be minted; zero means that there is no maximum.
    function maxSupply() external view returns (uint256);

    /// @notice Returns the number of tokens ever minted, which is also the highest id.
    function totalMinted() external view returns (uint256);

    /// @notice Returns the number of tokens that exist: minted and not burnt.
    function totalSupply() external view returns (uint256);
}
