// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "./ICollection.sol";

/// @title IERC721Collection
/// @notice A collection of single tokens with the ids 1, 2, 3 ... without gaps. A burnt id is never used again.
interface IERC721Collection is ICollection {
    /// @notice The cap was lowered.
    event MaxSupplyLowered(uint256 previousMaxSupply, uint256 maxSupply);

    /// @notice Thrown when as many tokens were minted as the cap allows.
    error ERC721ExceededMaxSupply(uint256 maxSupply);

    /// @notice Thrown when a new cap is zero, not lower than the old one (`current`, zero if there is none), or under
    /// what was minted.
    error ERC721InvalidMaxSupply(uint256 maxSupply, uint256 minted, uint256 current);

    /// @notice Mints the next token. A receiver with code must accept it. For minters and the service.
    /// @return tokenId The token's id.
    function mint(address to) external returns (uint256 tokenId);

    /// @notice Mints the next token without looking whether the receiver has code, for receivers known to be plain
    /// wallets. Only for the service, which saves the cold look at the account for its own wallets.
    /// @return tokenId The token's id.
    function mintToWallet(address to) external returns (uint256 tokenId);

    /// @notice Moves a token by the signature of the wallet that holds it. Only the relay may call; it appends the
    /// request number, which is part of what is signed. A receiver with code must accept the token.
    /// @param from The wallet that holds the token and signed.
    /// @param to Who gets it.
    /// @param tokenId The token.
    /// @param r The first half of the signature over `TransferAuthorization`, with an amount of 1.
    /// @param vs The second half (ERC-2098).
    function transferWithAuthorization(address from, address to, uint256 tokenId, bytes32 r, bytes32 vs) external;

    /// @notice Destroys a token. For its holder and whom the holder approved.
    function burn(uint256 tokenId) external;

    /// @notice Lowers the cap, never under what was minted. Only the owner may call.
    function lowerMaxSupply(uint256 newMaxSupply) external;

    /// @notice How many tokens can ever be minted; 0 means without limit.
    function maxSupply() external view returns (uint256);

    /// @notice How many tokens were ever minted, which is the highest id.
    function totalMinted() external view returns (uint256);

    /// @notice How many tokens exist: minted and not burnt.
    function totalSupply() external view returns (uint256);
}
